/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a .pcol file. The file is read into memory whole: a file that shrinks meanwhile is a
 * short read, not a fault. Sections are found one after the other; those of unknown type are passed
 * over.
 */
#include "format/build.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct section {
    uint64_t at; /* of its header in the file */
    unsigned type, version, flags;
    uint64_t stored, raw;
    uint32_t crc;
    const uint8_t *header, *content;
};

struct file {
    const uint8_t *data;
    size_t n;
    struct pc_pcol_header h;
    struct section parts[PC_N_PARTS_END]; /* header NULL: not met */
};

static int load_section(const struct file *f, uint64_t at, struct section *s,
                        struct pc_error *error)
{
    if (at > f->n || f->n - at < PC_PCOL_SECTION_BYTES)
        return pc_error_set(error, PC_EFORMAT,
                            "the file ends after %zu of %lu bytes; copy it again", f->n,
                            (unsigned long)f->h.file_bytes);
    const uint8_t *h = f->data + at;
    *s = (struct section){.at = at,
                          .type = (unsigned)pc_load_le(h, 4),
                          .version = (unsigned)pc_load_le(h + 4, 2),
                          .flags = (unsigned)pc_load_le(h + 6, 2),
                          .stored = pc_load_le(h + 8, 8),
                          .raw = pc_load_le(h + 16, 8),
                          .crc = (uint32_t)pc_load_le(h + 28, 4),
                          .header = h,
                          .content = h + PC_PCOL_SECTION_BYTES};
    uint64_t left = f->n - at - PC_PCOL_SECTION_BYTES;
    bool live = s->flags & PC_SECTION_LIVE;
    if (s->stored > left && !live)
        return pc_error_set(error, PC_EFORMAT,
                            "section '%s' at byte %lu: the file ends after %zu of %lu bytes; copy "
                            "it again",
                            pc_part_name(s->type), (unsigned long)at, f->n,
                            (unsigned long)f->h.file_bytes);
    uLong crc = crc32(0, h, 28);
    if (!live)
        crc = crc32_z(crc, s->content, s->stored);
    if (crc != s->crc)
        return pc_error_set(error, PC_EFORMAT,
                            "section '%s' at byte %lu is damaged: its checksum differs; copy the "
                            "file again",
                            pc_part_name(s->type), (unsigned long)at);
    if (s->stored > left)
        s->stored = left; /* late slots that were cut off */
    return PC_OK;
}

/* Whether a section may be read, passed over, or forbids to read the file. */
static int judge_section(struct file *f, const struct section *s, struct pc_error *error)
{
    bool known = s->type > 0 && s->type < PC_N_PARTS_END;
    if (known && s->version && s->version <= pc_part_version(s->type)) {
        if (f->parts[s->type].header)
            return pc_error_set(error, PC_EFORMAT, "section '%s' at byte %lu is there twice",
                                pc_part_name(s->type), (unsigned long)s->at);
        f->parts[s->type] = *s;
    } else if (s->flags & PC_SECTION_REQUIRED) {
        return pc_error_set(error, PC_EVERSION,
                            "section %u at byte %lu is of version %u, which this pcollect does not "
                            "know; open the file with a newer pcollect",
                            s->type, (unsigned long)s->at, s->version);
    }
    return PC_OK;
}

static int find_sections(struct file *f, struct pc_error *error)
{
    uint64_t at = PC_PCOL_HEADER_BYTES;
    for (uint32_t i = 0; i < f->h.n_sections; i++) {
        struct section s;
        int err = load_section(f, at, &s, error);
        if (!err)
            err = judge_section(f, &s, error);
        if (err)
            return err;
        at += PC_PCOL_SECTION_BYTES + s.stored;
    }
    for (unsigned part = PC_PART_META; part < PC_N_PARTS_END; part++)
        if (!f->parts[part].header && !pc_part_may_lack(part))
            return pc_error_set(error, PC_EFORMAT, "section '%s' is missing", pc_part_name(part));
    return PC_OK;
}

static int decode_section(const struct section *s, struct pc_profile *p, struct pc_error *error)
{
    struct pc_error inner = {""};
    bool deflated = s->flags & PC_SECTION_DEFLATED;
    uint8_t *raw = pc_pcol_unpack(s->content, s->stored, s->raw, deflated, &inner);
    int err = raw ? pc_part_decode(p, s->type, s->version, raw, s->raw, &inner) : PC_EFORMAT;
    free(raw);
    if (err)
        pc_error_set(error, err, "section '%s' at byte %lu: %s", pc_part_name(s->type),
                     (unsigned long)s->at, inner.text);
    return err;
}

static int decode_file(struct file *f, struct pc_profile **p, struct pc_error *error)
{
    int err = pc_pcol_header_decode(f->data, f->n, &f->h, error);
    if (!err)
        err = find_sections(f, error);
    for (unsigned part = PC_PART_META; !err && part < PC_N_PARTS_END; part++)
        if (f->parts[part].header)
            err = decode_section(&f->parts[part], *p, error);
    if (!err)
        err = pc_profile_check(*p, error);
    if (!err)
        pc_pcol_read_slots(f->data, f->n, &f->h, p, error);
    return err;
}

static int read_all(int fd, size_t n, uint8_t *out, size_t *n_out)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = read(fd, out + done, n - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (!got)
            break;
        done += (size_t)got;
    }
    *n_out = done;
    return 0;
}

static int load_file(const char *path, uint8_t **data_out, size_t *n_out, struct pc_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int err = errno;
        if (fd >= 0)
            close(fd);
        return pc_error_set(error, err == ENOENT ? PC_ENOENT : PC_EIO, "%s: cannot be read: %s",
                            path, strerror(err));
    }
    if (!S_ISREG(st.st_mode)) {
        close(fd);
        return pc_error_set(error, PC_EFORMAT, "%s: %s, not a profile of pcollect (.pcol)", path,
                            S_ISDIR(st.st_mode) ? "is a folder" : "is not a regular file");
    }
    uint8_t *data = malloc((size_t)st.st_size + 1);
    int err = data ? read_all(fd, (size_t)st.st_size, data, n_out) : ENOMEM;
    close(fd);
    if (err) {
        free(data);
        return pc_error_set(error, err == ENOMEM ? PC_ENOMEM : PC_EIO, "%s: cannot be read: %s",
                            path, strerror(err));
    }
    *data_out = data;
    return PC_OK;
}

int pc_pcol_read(const char *path, struct pc_profile **out, struct pc_error *error)
{
    int saved_errno = errno;
    struct pc_error inner = {""};
    struct file f = {0};
    uint8_t *data = NULL;
    if (error)
        error->text[0] = 0;
    int err = load_file(path, &data, &f.n, error);
    if (err) {
        errno = saved_errno;
        return err;
    }
    f.data = data;
    struct pc_profile *p = pc_profile_new();
    err = p ? decode_file(&f, &p, &inner) : PC_ENOMEM;
    free(data);
    if (err) {
        pc_profile_free(p);
        pc_error_set(error, err, "%s: %s", path, *inner.text ? inner.text : pc_err_text(err));
    } else {
        if (*inner.text)
            pc_error_set(error, PC_OK, "%s: %s", path, inner.text);
        *out = p;
    }
    errno = saved_errno;
    return err;
}
