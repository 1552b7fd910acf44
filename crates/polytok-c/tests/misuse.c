/* Calls every function with good and with wrong arguments; valgrind watches. Argument: a .ptok file. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "polytok.h"

#define FAILS(status, call)                                                                                            \
  do {                                                                                                                 \
    assert((call) == (status));                                                                                        \
    assert(strlen(polytok_error_message()) > 10);                                                                      \
  } while (0)
#define WORKS(call)                                                                                                    \
  do {                                                                                                                 \
    if ((call) != POLYTOK_STATUS_OK) {                                                                                 \
      fprintf(stderr, "line %d: %s\n", __LINE__, polytok_error_message());                                             \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

static const char TEXT[] = "lower ids \xf0\x9f\x91\x8d<|endoftext|>";

static void wrong_files(const uint8_t *file, size_t len) {
  PolytokTokenizer *tokenizer = (PolytokTokenizer *)&tokenizer;
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_load_ptok(NULL, 5, &tokenizer));
  assert(tokenizer == NULL);
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_load_ptok(file, len, NULL));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_load_ptok(file, SIZE_MAX, &tokenizer));
  FAILS(POLYTOK_STATUS_FORMAT, polytok_load_ptok(NULL, 0, &tokenizer));
  for (size_t short_len = 0; short_len < len; short_len += 1 + len / 50) {
    FAILS(POLYTOK_STATUS_FORMAT, polytok_load_ptok(file, short_len, &tokenizer));
    assert(tokenizer == NULL);
  }
}

static void rank_files(void) {
  const char *file = "YQ== 0\nYg== 1\nYWI= 2\n";
  const uint8_t *data = (const uint8_t *)file;
  PolytokSpecialToken special[] = {{"<end>", 7}};
  PolytokTokenizer *tokenizer;
  FAILS(POLYTOK_STATUS_FORMAT, polytok_load_rank_file((const uint8_t *)"YQ", 2, NULL, NULL, 0, &tokenizer));
  FAILS(POLYTOK_STATUS_SPEC, polytok_load_rank_file(data, strlen(file), "(", NULL, 0, &tokenizer));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_load_rank_file(data, strlen(file), "\xff", NULL, 0, &tokenizer));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_load_rank_file(data, strlen(file), NULL, NULL, 1, &tokenizer));
  PolytokSpecialToken nameless[] = {{NULL, 7}};
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_load_rank_file(data, strlen(file), NULL, nameless, 1, &tokenizer));
  WORKS(polytok_load_rank_file(data, strlen(file), "[a-z]+", special, 1, &tokenizer));
  PolytokIds ids;
  WORKS(polytok_encode(tokenizer, (const uint8_t *)"abba<end>", 9, POLYTOK_PARSE_SPECIAL, &ids));
  assert(ids.len == 4 && ids.data[0] == 2 && ids.data[1] == 1 && ids.data[2] == 0 && ids.data[3] == 7);
  polytok_ids_free(&ids);
  FAILS(POLYTOK_STATUS_ENCODE, polytok_encode(tokenizer, (const uint8_t *)"xyz", 3, 0, &ids));
  assert(ids.data == NULL && ids.len == 0);
  uint32_t id;
  WORKS(polytok_max_id(tokenizer, &id));
  assert(id == 7);
  polytok_tokenizer_free(tokenizer);
}

static void wrong_calls(const PolytokTokenizer *tokenizer) {
  const uint8_t *text = (const uint8_t *)TEXT;
  PolytokIds ids;
  PolytokBytes bytes;
  size_t count;
  uint32_t id, bad_id = 4000000000u;
  const uint8_t *data;
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_encode(NULL, text, 3, 0, &ids));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_encode(tokenizer, NULL, 3, 0, &ids));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_encode(tokenizer, text, 3, 0, NULL));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_encode(tokenizer, text, 3, 64, &ids));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_encode(tokenizer, text, SIZE_MAX, 0, &ids));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_count(tokenizer, text, 3, POLYTOK_SKIP_SPECIAL, &count));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_count(tokenizer, text, 3, 0, NULL));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_decode(tokenizer, NULL, 3, 0, &bytes));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_decode(tokenizer, &bad_id, SIZE_MAX / 2, 0, &bytes));
  FAILS(POLYTOK_STATUS_ID, polytok_decode(tokenizer, &bad_id, 1, 0, &bytes));
  assert(bytes.data == NULL && bytes.len == 0);
  FAILS(POLYTOK_STATUS_ID, polytok_token_bytes(tokenizer, bad_id, &data, &count));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_token_bytes(tokenizer, 3, NULL, &count));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_token_id(tokenizer, (const uint8_t *)"no entry", 8, &id));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_max_id(NULL, &id));
  WORKS(polytok_encode(tokenizer, NULL, 0, 0, &ids));
  assert(ids.data == NULL && ids.len == 0);
  polytok_ids_free(&ids);
  WORKS(polytok_decode(tokenizer, NULL, 0, 0, &bytes));
  polytok_bytes_free(&bytes);
  polytok_bytes_free(NULL);
  polytok_ids_free(NULL);
  polytok_tokenizer_free(NULL);
  polytok_stream_free(NULL);
}

static void streams(const PolytokTokenizer *tokenizer) {
  PolytokStream *stream;
  const char *text;
  size_t len;
  uint32_t bad_id = 4000000000u;
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_stream_new(NULL, 0, &stream));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_stream_new(tokenizer, 1, &stream));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_stream_new(tokenizer, 0, NULL));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_stream_push(NULL, &bad_id, 1, &text, &len));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_stream_finish(NULL, &text, &len));
  WORKS(polytok_stream_new(tokenizer, POLYTOK_SKIP_SPECIAL, &stream));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_stream_push(stream, NULL, 1, &text, &len));
  FAILS(POLYTOK_STATUS_ARGUMENT, polytok_stream_push(stream, &bad_id, 1, NULL, &len));
  PolytokIds ids;
  WORKS(polytok_encode(tokenizer, (const uint8_t *)TEXT, strlen(TEXT), POLYTOK_PARSE_SPECIAL, &ids));
  char all[100] = "";
  for (size_t i = 0; i < ids.len; i++) {
    WORKS(polytok_stream_push(stream, &ids.data[i], 1, &text, &len));
    strncat(all, len > 0 ? text : "", len);
    FAILS(POLYTOK_STATUS_ID, polytok_stream_push(stream, &bad_id, 1, &text, &len));
    assert(text == NULL && len == 0);
  }
  WORKS(polytok_stream_finish(stream, &text, &len));
  assert(len == 0 && strncmp(all, TEXT, strlen(TEXT) - strlen("<|endoftext|>")) == 0);
  assert(strlen(all) == strlen(TEXT) - strlen("<|endoftext|>"));
  polytok_ids_free(&ids);
  polytok_ids_free(&ids);
  polytok_stream_free(stream);
}

static void *encode_often(void *tokenizer) {
  for (int i = 0; i < 50; i++) {
    PolytokIds ids;
    WORKS(polytok_encode((const PolytokTokenizer *)tokenizer, (const uint8_t *)TEXT, strlen(TEXT), 0, &ids));
    PolytokBytes bytes;
    WORKS(polytok_decode((const PolytokTokenizer *)tokenizer, ids.data, ids.len, 0, &bytes));
    assert(bytes.len == strlen(TEXT) && memcmp(bytes.data, TEXT, bytes.len) == 0);
    polytok_bytes_free(&bytes);
    polytok_ids_free(&ids);
  }
  return NULL;
}

int main(int argc, char **argv) {
  static uint8_t file[1 << 20];
  assert(argc == 2 && polytok_version()[0] != 0 && polytok_error_message()[0] == 0);
  FILE *input = fopen(argv[1], "rb");
  assert(input != NULL);
  size_t len = fread(file, 1, sizeof file, input);
  fclose(input);
  wrong_files(file, len);
  rank_files();
  PolytokTokenizer *tokenizer;
  WORKS(polytok_load_ptok(file, len, &tokenizer));
  uint32_t id, max_id;
  WORKS(polytok_token_id(tokenizer, (const uint8_t *)"er", 2, &id));
  const uint8_t *bytes;
  size_t bytes_len;
  WORKS(polytok_token_bytes(tokenizer, id, &bytes, &bytes_len));
  assert(bytes_len == 2 && memcmp(bytes, "er", 2) == 0);
  WORKS(polytok_max_id(tokenizer, &max_id));
  assert(id <= max_id);
  wrong_calls(tokenizer);
  streams(tokenizer);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    assert(pthread_create(&threads[i], NULL, encode_often, tokenizer) == 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
  }
  polytok_tokenizer_free(tokenizer);
  puts("all calls checked");
  return 0;
}
