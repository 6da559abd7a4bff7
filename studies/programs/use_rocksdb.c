/* Puts a key a write into RocksDB, and lists the keys: cc -O2 -o use_rocksdb use_rocksdb.c -lrocksdb */
#include <rocksdb/c.h>
#include <stdio.h>
#include <string.h>

static char *error;

static int failed(const char *what) {
    if (error) fprintf(stderr, "%s: %s\n", what, error);
    return error != NULL;
}

int main(int count, char **words) {
    if (count != 4) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_t *store = rocksdb_open(options, words[2], &error);
    if (failed("open")) return 1;
    rocksdb_writeoptions_t *way = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(way, !strcmp(words[3], "sync"));
    for (int number = 1; !strcmp(words[1], "load"); number++) {
        char key[16];
        int length = snprintf(key, sizeof key, "%d", number);
        printf("begin %d\n", number);
        rocksdb_put(store, way, key, length, key, length, &error);
        if (failed("put")) return 1;
        printf("ack %d\n", number);
    }
    rocksdb_iterator_t *all = rocksdb_create_iterator(store, rocksdb_readoptions_create());
    for (rocksdb_iter_seek_to_first(all); rocksdb_iter_valid(all); rocksdb_iter_next(all)) {
        size_t key_length, value_length;
        const char *key = rocksdb_iter_key(all, &key_length), *value = rocksdb_iter_value(all, &value_length);
        if (key_length != value_length || memcmp(key, value, key_length)) {
            fprintf(stderr, "%.*s has another value\n", (int)key_length, key);
            return 1;
        }
        printf("%.*s\n", (int)key_length, key);
    }
    rocksdb_iter_get_error(all, &error);
    return failed("read");
}
