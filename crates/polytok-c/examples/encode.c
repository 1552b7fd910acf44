/* Loads a .ptok file, encodes a text, counts its tokens, decodes the ids at once and as a stream.
 *
 *     polytok convert default default.ptok
 *     cc encode.c -I ../include -L ../../../target/release -lpolytok -o encode
 *     ./encode default.ptok "Hello, world"
 *
 * This file is also a C++ program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "polytok.h"

/* Ends the program if a call has failed. */
static void check(PolytokStatus status) {
  if (status != POLYTOK_STATUS_OK) {
    fprintf(stderr, "polytok: %s\n", polytok_error_message());
    exit(1);
  }
}

static uint8_t *read_file(const char *path, size_t *len) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    perror(path);
    exit(1);
  }
  long size = ftell(file);
  rewind(file);
  uint8_t *data = (uint8_t *)malloc(size > 0 ? (size_t)size : 1);
  if (data == NULL || size < 0 || fread(data, 1, (size_t)size, file) != (size_t)size) {
    perror(path);
    exit(1);
  }
  fclose(file);
  *len = (size_t)size;
  return data;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s FILE.ptok TEXT\n", argv[0]);
    return 2;
  }
  size_t file_len;
  uint8_t *file = read_file(argv[1], &file_len);
  PolytokTokenizer *tokenizer;
  check(polytok_load_ptok(file, file_len, &tokenizer));
  free(file); /* the tokenizer has a copy */

  const uint8_t *text = (const uint8_t *)argv[2];
  PolytokIds ids;
  check(polytok_encode(tokenizer, text, strlen(argv[2]), 0, &ids));
  size_t count;
  check(polytok_count(tokenizer, text, strlen(argv[2]), 0, &count));
  printf("%zu ids:", count);
  for (size_t i = 0; i < ids.len; i++) {
    printf(" %u", (unsigned)ids.data[i]);
  }
  printf("\n");

  PolytokBytes bytes;
  check(polytok_decode(tokenizer, ids.data, ids.len, 0, &bytes));
  printf("decoded: %.*s\n", (int)bytes.len, (const char *)bytes.data);
  polytok_bytes_free(&bytes);

  PolytokStream *stream;
  check(polytok_stream_new(tokenizer, 0, &stream));
  polytok_tokenizer_free(tokenizer); /* the stream keeps what it needs */
  const char *part;
  size_t part_len;
  printf("streamed:");
  for (size_t i = 0; i < ids.len; i++) {
    check(polytok_stream_push(stream, &ids.data[i], 1, &part, &part_len));
    if (part_len > 0) {
      printf(" [%.*s]", (int)part_len, part);
    }
  }
  check(polytok_stream_finish(stream, &part, &part_len));
  printf(" [%.*s]\n", (int)part_len, part_len > 0 ? part : "");
  polytok_stream_free(stream);
  polytok_ids_free(&ids);
  return 0;
}
