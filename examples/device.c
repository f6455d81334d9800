/* SPDX-License-Identifier: Apache-2.0 */
/* device.c -- a compiled region on a Linux board with an Ethos-U65 or U85, with libtosac-device alone.
 *
 *   tosac compile model.pt2 -t ethos-u65-256 --calib data.npz --emit stream -o model.bin
 *   cc device.c -ltosac-device -o device
 *   ./device model.bin INPUT... > OUTPUT            files of bytes, channels last */
#include <stdio.h>
#include <stdlib.h>

#include <tosac/device.h>

static void *read_all(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    void *data = NULL;
    *bytes = 0;
    if (f && fseek(f, 0, SEEK_END) == 0 && ftell(f) >= 0) {
        *bytes = (size_t)ftell(f);
        data = malloc(*bytes + 1);
        rewind(f);
        if (data && fread(data, 1, *bytes, f) != *bytes) {
            free(data);
            data = NULL;
        }
    }
    if (f)
        fclose(f);
    if (!data)
        fprintf(stderr, "%s cannot be read\n", path);
    return data;
}

static int run(tc_device *device, int argc, char **argv)
{
    tc_device_program *program;
    size_t bytes, room;
    void *file = read_all(argv[1], &bytes);
    if (!file || tc_device_load(device, file, bytes, &program))
        return 1;
    free(file);
    for (int i = 2; i < argc; i++) {
        void *to = tc_device_input(program, (size_t)i - 2, &room);
        void *data = read_all(argv[i], &bytes);
        if (!to || !data || bytes != room) {
            fprintf(stderr, "%s: not the bytes of input %d\n", argv[i], i - 2);
            return 1;
        }
        memcpy(to, data, bytes);
        free(data);
    }
    if (tc_device_run(program, 1000))
        return 1;
    for (size_t i = 0;; i++) {
        const void *from = tc_device_output(program, i, &bytes);
        if (!from)
            return 0;
        fwrite(from, 1, bytes, stdout);
    }
}

int main(int argc, char **argv)
{
    tc_device *device;
    if (argc < 2) {
        fprintf(stderr, "device MODEL.bin INPUT... > OUTPUT\n");
        return 2;
    }
    int code = tc_device_open(NULL, &device);
    code = code ? code : run(device, argc, argv);
    if (code && device && *tc_device_error(device))
        fprintf(stderr, "%s\n", tc_device_error(device));
    tc_device_close(device);
    return code != 0;
}
