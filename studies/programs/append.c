/* Appends records of 64 bytes to a log, with fdatasync before each promise or without: cc -O2 -o append append.c */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count != 4) return 2;
    char path[4096], record[64];
    snprintf(path, sizeof path, "%s/log", words[2]);
    int log = open(path, O_RDWR | O_CREAT | O_APPEND, 0600);
    if (log < 0) { perror(path); return 1; }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(words[1], "load")) {
        int directory = open(words[2], O_RDONLY);
        if (fsync(directory)) { perror("fsync"); return 1; } /* the file's name */
        for (int number = 1;; number++) {
            printf("begin %d\n", number);
            memset(record, '.', sizeof record);
            snprintf(record, sizeof record, "%d", number);
            if (write(log, record, sizeof record) != sizeof record) { perror("write"); return 1; }
            if (!strcmp(words[3], "yes") && fdatasync(log)) { perror("fdatasync"); return 1; }
            printf("ack %d\n", number);
        }
    }
    int number = 0; /* check: the log is read up to its first record that is not whole */
    while (read(log, record, sizeof record) == sizeof record && atoi(record) == number + 1)
        printf("%d\n", ++number);
    return 0;
}
