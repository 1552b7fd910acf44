/* polytok for C: loads tokenizers, encodes, counts and decodes. Generated from crates/polytok-c; do not edit.
 *
 * Errors: each function that can fail returns a PolytokStatus. If it is not POLYTOK_STATUS_OK, polytok_error_message()
 * returns what is wrong, and the results are null, zero or empty. A null pointer is an error, except where a comment
 * says otherwise; an array of length 0 can be null.
 *
 * Ownership: what a function takes, it copies. The caller frees each tokenizer, stream, PolytokIds and PolytokBytes with
 * the function of that name that ends with _free. All other results belong to the tokenizer or the stream.
 *
 * Threads: any number of threads can use one tokenizer at the same time. One thread at a time can use a stream. Error
 * messages belong to the thread. No function starts a thread, so a process can fork.
 */

#ifndef POLYTOK_H
#define POLYTOK_H

#include <stddef.h>
#include <stdint.h>

// A flag for encoding: the ids of the template, such as BOS and EOS, are added around the text.
#define POLYTOK_ADD_SPECIAL 1

// A flag for encoding: special tokens in the text are encoded to their ids. Without this flag they are plain text, as
// text from outside should be.
#define POLYTOK_PARSE_SPECIAL 2

// A flag for decoding: special tokens print nothing.
#define POLYTOK_SKIP_SPECIAL 4

// The result of a call. If it is not `POLYTOK_STATUS_OK`, `polytok_error_message` returns what is wrong, and the
// results of the call are null, zero or empty.
typedef enum PolytokStatus {
  // The call has succeeded.
  POLYTOK_STATUS_OK = 0,
  // An argument is null, is not UTF-8 or is out of its range.
  POLYTOK_STATUS_ARGUMENT = 1,
  // The bytes of a file do not follow its format.
  POLYTOK_STATUS_FORMAT = 2,
  // The vocabulary and the options of a tokenizer do not fit together.
  POLYTOK_STATUS_SPEC = 3,
  // The tokenizer cannot encode this text.
  POLYTOK_STATUS_ENCODE = 4,
  // The text contains a special token that is not allowed.
  POLYTOK_STATUS_SPECIAL = 5,
  // An id is not in the vocabulary.
  POLYTOK_STATUS_ID = 6,
  // The system has refused memory.
  POLYTOK_STATUS_MEMORY = 7,
  // An internal error, which should be reported. A stream whose call returns this status must be freed.
  POLYTOK_STATUS_INTERNAL = 8,
} PolytokStatus;

// A stream of ids that are decoded to text. One thread can use it at a time.
typedef struct PolytokStream PolytokStream;

// A tokenizer. It never changes, and any number of threads can use it at the same time.
typedef struct PolytokTokenizer PolytokTokenizer;

// Ids that the caller owns. `polytok_ids_free` frees them.
typedef struct PolytokIds {
  // The ids; null if there are none.
  uint32_t *data;
  // The number of ids.
  size_t len;
} PolytokIds;

// Bytes that the caller owns. `polytok_bytes_free` frees them. They do not end with a NUL.
typedef struct PolytokBytes {
  // The bytes; null if there are none.
  uint8_t *data;
  // The number of bytes.
  size_t len;
} PolytokBytes;

// A special token of a rank file.
typedef struct PolytokSpecialToken {
  // The text, in UTF-8, with a NUL at its end.
  const char *text;
  // The id.
  uint32_t id;
} PolytokSpecialToken;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library, for example "0.1.0". The text is never freed.
const char *polytok_version(void);

// Returns the message of the last call that failed in this thread, in UTF-8: what is wrong, where, and what to do next.
// The text is valid until the next call in this thread fails. If no call has failed, the text is empty.
const char *polytok_error_message(void);

// Frees ids, and sets them to no ids, so that a second call does nothing. `ids` can be null.
//
// # Safety
//
// `ids` must be null, or must point to no ids or to ids that this library returned and that were not changed.
void polytok_ids_free(struct PolytokIds *ids);

// Frees bytes, and sets them to no bytes, so that a second call does nothing. `bytes` can be null.
//
// # Safety
//
// `bytes` must be null, or must point to no bytes or to bytes that this library returned and that were not changed.
void polytok_bytes_free(struct PolytokBytes *bytes);

// Creates a stream. `flags` is 0 or `POLYTOK_SKIP_SPECIAL`. The stream keeps the data of the tokenizer, so the
// tokenizer can be freed first. The caller frees the stream with `polytok_stream_free`.
//
// # Safety
//
// `tokenizer` must be a tokenizer of this library, and `stream` must point to memory for a pointer.
enum PolytokStatus polytok_stream_new(const struct PolytokTokenizer *tokenizer,
                                      uint32_t flags,
                                      struct PolytokStream **stream);

// Decodes the next `ids_len` ids, and writes to `text` and `text_len` the text that later ids cannot change, in UTF-8,
// without a NUL at its end. Bytes that are not UTF-8 become U+FFFD. The text belongs to the stream, and is valid until
// the next call with this stream. After an error the stream is as before the call.
//
// # Safety
//
// `stream` must be a stream of this library that no other thread uses now, `ids` must point to `ids_len` ids, `text` to
// memory for a pointer, and `text_len` to memory for a number.
enum PolytokStatus polytok_stream_push(struct PolytokStream *stream,
                                       const uint32_t *ids,
                                       size_t ids_len,
                                       const char **text,
                                       size_t *text_len);

// Writes to `text` and `text_len` the remaining text, as `polytok_stream_push` does, and prepares the stream for the
// next text.
//
// # Safety
//
// `stream` must be a stream of this library that no other thread uses now, `text` must point to memory for a pointer,
// and `text_len` to memory for a number.
enum PolytokStatus polytok_stream_finish(struct PolytokStream *stream, const char **text, size_t *text_len);

// Frees a stream. `stream` can be null.
//
// # Safety
//
// `stream` must be null, or a stream that this library returned and that was not freed.
void polytok_stream_free(struct PolytokStream *stream);

// Loads the bytes of a `.ptok` file. The bytes are copied, so the caller can free them after the call. The caller frees
// the tokenizer with `polytok_tokenizer_free`.
//
// # Safety
//
// `data` must point to `len` bytes, and `tokenizer` to memory for a pointer.
enum PolytokStatus polytok_load_ptok(const uint8_t *data, size_t len, struct PolytokTokenizer **tokenizer);

// Loads the bytes of one of tiktoken's rank files. `pattern` is the regular expression that splits texts; null if texts
// are not split. The file has no special tokens, so the caller passes `special_len` of them. Everything is copied. The
// caller frees the tokenizer with `polytok_tokenizer_free`.
//
// # Safety
//
// `data` must point to `len` bytes, `pattern` to a text that ends with a NUL, or be null, `special` to `special_len`
// special tokens, and `tokenizer` to memory for a pointer.
enum PolytokStatus polytok_load_rank_file(const uint8_t *data,
                                          size_t len,
                                          const char *pattern,
                                          const struct PolytokSpecialToken *special,
                                          size_t special_len,
                                          struct PolytokTokenizer **tokenizer);

// Frees a tokenizer, which no other thread may use any more. Streams of the tokenizer stay usable. `tokenizer` can be
// null.
//
// # Safety
//
// `tokenizer` must be null, or a tokenizer that this library returned and that was not freed.
void polytok_tokenizer_free(struct PolytokTokenizer *tokenizer);

// Encodes a text of `len` bytes, usually UTF-8. `flags` is 0, or `POLYTOK_ADD_SPECIAL` and `POLYTOK_PARSE_SPECIAL`
// joined by `|`. The caller frees the ids with `polytok_ids_free`.
//
// # Safety
//
// `tokenizer` must be a tokenizer of this library, `text` must point to `len` bytes, and `ids` to memory for a
// `PolytokIds`.
enum PolytokStatus polytok_encode(const struct PolytokTokenizer *tokenizer,
                                  const uint8_t *text,
                                  size_t len,
                                  uint32_t flags,
                                  struct PolytokIds *ids);

// Writes to `count` the number of ids that `polytok_encode` would return. This is faster, and stores no ids.
//
// # Safety
//
// `tokenizer` must be a tokenizer of this library, `text` must point to `len` bytes, and `count` to memory for a number.
enum PolytokStatus polytok_count(const struct PolytokTokenizer *tokenizer,
                                 const uint8_t *text,
                                 size_t len,
                                 uint32_t flags,
                                 size_t *count);

// Decodes `len` ids. `flags` is 0 or `POLYTOK_SKIP_SPECIAL`. The bytes are UTF-8 if the ids are those of a text; other
// ids can end in the middle of a character. The caller frees the bytes with `polytok_bytes_free`.
//
// # Safety
//
// `tokenizer` must be a tokenizer of this library, `ids` must point to `len` ids, and `bytes` to memory for a
// `PolytokBytes`.
enum PolytokStatus polytok_decode(const struct PolytokTokenizer *tokenizer,
                                  const uint32_t *ids,
                                  size_t len,
                                  uint32_t flags,
                                  struct PolytokBytes *bytes);

// Writes to `data` and `len` the bytes of the entry or special token with this id. The bytes belong to the tokenizer:
// they are valid until it is freed, and the caller must not free or change them.
//
// # Safety
//
// `tokenizer` must be a tokenizer of this library, `data` must point to memory for a pointer, and `len` to memory for a
// number.
enum PolytokStatus polytok_token_bytes(const struct PolytokTokenizer *tokenizer,
                                       uint32_t id,
                                       const uint8_t **data,
                                       size_t *len);

// Writes to `id` the id of the entry or special token with these bytes. The status is `POLYTOK_STATUS_ARGUMENT` if
// there is none.
//
// # Safety
//
// `tokenizer` must be a tokenizer of this library, `bytes` must point to `len` bytes, and `id` to memory for an id.
enum PolytokStatus polytok_token_id(const struct PolytokTokenizer *tokenizer,
                                    const uint8_t *bytes,
                                    size_t len,
                                    uint32_t *id);

// Writes to `id` the largest id that an encoding can contain. The status is `POLYTOK_STATUS_ARGUMENT` if the vocabulary
// is empty.
//
// # Safety
//
// `tokenizer` must be a tokenizer of this library, and `id` must point to memory for an id.
enum PolytokStatus polytok_max_id(const struct PolytokTokenizer *tokenizer, uint32_t *id);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* POLYTOK_H */
