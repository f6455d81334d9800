/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c -- see pack.h. */
#include "pack.h"

#include "../base/text.h"
#include "../wire/archive.h"

#include <ctype.h>

static const char ABOUT[] = "a model in plain C, without a runtime";

/* ---- names ---- */

static bool is_word(tc_str s)
{
    bool good = s.n > 0 && isalpha((unsigned char)s.p[0]);
    for (size_t i = 0; i < s.n && good; i++)
        good = isalnum((unsigned char)s.p[i]) || s.p[i] == '_' || s.p[i] == '-';
    return good;
}

/* "1.0.0" */
static bool is_version(tc_str s)
{
    int parts = 1;
    bool digit = false;
    for (size_t i = 0; i < s.n; i++) {
        bool dot = s.p[i] == '.';
        if (dot ? !digit : !isdigit((unsigned char)s.p[i]))
            return false;
        parts += dot;
        digit = !dot;
    }
    return parts == 3 && digit;
}

static tc_str stem_of(const char *path, const char *extension)
{
    const char *base = ti_path_last(path);
    return (tc_str){base, strlen(base) - (ti_text_ends(base, extension) ? strlen(extension) : 0)};
}

static const char *copy(tc_ctx *ctx, tc_str s)
{
    return ti_text_copy(&ctx->arena, s);
}

tc_status ti_pack_name(tc_ctx *ctx, const char *path, tc_pack *out)
{
    tc_str all = stem_of(path ? path : "tosac.model.1.0.0.pack", ".pack");
    const char *dot = memchr(all.p, '.', all.n), *end = all.p + all.n,
               *next = dot ? memchr(dot + 1, '.', (size_t)(end - dot - 1)) : NULL;
    tc_str vendor = {all.p, dot ? (size_t)(dot - all.p) : 0},
           name = {next ? dot + 1 : NULL, next ? (size_t)(next - dot - 1) : 0},
           version = {next ? next + 1 : NULL, next ? (size_t)(end - next - 1) : 0};
    if (!is_word(vendor) || !is_word(name) || !is_version(version))
        return ti_usage(ctx, "-o %s: a pack is called VENDOR.NAME.VERSION.pack, as acme.keywords.1.0.0.pack", path);
    out->vendor = copy(ctx, vendor);
    out->name = copy(ctx, name);
    out->version = copy(ctx, version);
    return TC_OK;
}

tc_status ti_library_name(tc_ctx *ctx, const char *path, tc_pack *out)
{
    tc_str name = stem_of(path ? path : "model.zip", ".zip"), version = {"1.0.0", 5};
    for (size_t i = name.n; i-- > 1;)
        if (name.p[i] == '-' && is_version((tc_str){name.p + i + 1, name.n - i - 1})) {
            version = (tc_str){name.p + i + 1, name.n - i - 1};
            name.n = i;
            break;
        }
    if (!is_word(name))
        return ti_usage(ctx, "-o %s: a library is called NAME.zip or NAME-VERSION.zip, as keywords-1.0.0.zip", path);
    out->vendor = "tosac";
    out->name = copy(ctx, name);
    out->version = copy(ctx, version);
    return TC_OK;
}

/* ---- parts ---- */

static tc_bytes text_bytes(tc_buf *b)
{
    return (tc_bytes){(const uint8_t *)ti_buf_cstr(b), b->size};
}

static bool is_header(const char *name)
{
    return ti_text_ends(name, ".h");
}

static const char *header_of(const tc_pack *p)
{
    size_t i = 0;
    while (i + 1 < p->n_file && !is_header(p->file[i]))
        i++;
    return p->file[i];
}

static void add_sources(tc_ctx *ctx, tc_zip *zip, const tc_pack *p, const char *folder)
{
    for (size_t i = 0; i < p->n_file; i++)
        ti_zip_add(zip, ti_text_format(&ctx->arena, "%s%s", folder, p->file[i]), p->bytes[i]);
}

/* ---- a CMSIS-Pack ---- */

/* The settings may have a file's name in them. */
static const char *xml(tc_ctx *ctx, const char *text)
{
    tc_buf b;
    ti_buf_init(&b, &ctx->arena);
    for (; *text; text++)
        if (*text == '&' || *text == '<' || *text == '>')
            ti_buf_printf(&b, "&#%d;", *text);
        else
            ti_buf_printf(&b, "%c", *text);
    return ti_buf_cstr(&b);
}

/* "cortex-m0plus" is Cortex-M0+ there. */
static const char *core_name(tc_ctx *ctx, const char *core)
{
    const char *m = strrchr(core, 'm') + 1;
    size_t digits = strspn(m, "0123456789");
    return ti_text_format(&ctx->arena, "Cortex-M%.*s%s", (int)digits, m, m[digits] == 'p' && m[digits + 1] ? "+" : "");
}

static tc_bytes description(tc_ctx *ctx, const tc_pack *p)
{
    tc_buf b;
    const char *core = core_name(ctx, p->core);
    ti_buf_init(&b, &ctx->arena);
    ti_buf_text(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<package schemaVersion=\"1.7.7\" xmlns:xs=\"http://www.w3.org/2001/XMLSchema-instance\" "
                    "xs:noNamespaceSchemaLocation=\"PACK.xsd\">\n");
    ti_buf_printf(&b, "  <vendor>%s</vendor>\n  <name>%s</name>\n", p->vendor, p->name);
    ti_buf_printf(&b, "  <description>%s: %s</description>\n  <url></url>\n", p->name, ABOUT);
    ti_buf_printf(&b, "  <releases>\n    <release version=\"%s\">made by %s</release>\n  </releases>\n", p->version,
                  xml(ctx, p->made_by));
    ti_buf_text(&b, "  <keywords>\n    <keyword>machine learning</keyword>\n  </keywords>\n");
    ti_buf_printf(&b, "  <conditions>\n    <condition id=\"core\">\n      <description>what the C is made for</description>\n"
                      "      <require Dcore=\"%s\"/>\n    </condition>\n  </conditions>\n", core);
    ti_buf_printf(&b, "  <components>\n    <component Cclass=\"Machine Learning\" Cgroup=\"Model\" Csub=\"%s\" Cversion=\"%s\" condition=\"core\">\n",
                  p->name, p->version);
    ti_buf_printf(&b, "      <description>%s%s</description>\n      <files>\n", ABOUT,
                  p->npu ? "; its regions of an Ethos-U are run by tosac_npu_run() of the firmware" : "");
    for (size_t i = 0; i < p->n_file; i++)
        ti_buf_printf(&b, "        <file category=\"%s\" name=\"src/%s\"/>\n",
                      is_header(p->file[i]) ? "header" : "source", p->file[i]);
    ti_buf_text(&b, "      </files>\n    </component>\n  </components>\n</package>\n");
    return text_bytes(&b);
}

tc_bytes ti_pack_cmsis(tc_ctx *ctx, const tc_pack *p)
{
    tc_zip zip;
    ti_zip_begin(&zip, &ctx->arena);
    ti_zip_add(&zip, ti_text_format(&ctx->arena, "%s.%s.pdsc", p->vendor, p->name), description(ctx, p));
    add_sources(ctx, &zip, p, "src/");
    return ti_zip_end(&zip);
}

/* ---- Arduino, PlatformIO ---- */

static tc_bytes properties(tc_ctx *ctx, const tc_pack *p)
{
    tc_buf b;
    ti_buf_init(&b, &ctx->arena);
    ti_buf_printf(&b, "name=%s\nversion=%s\nauthor=%s\nmaintainer=%s\nsentence=%s: %s\n", p->name, p->version,
                  p->vendor, p->vendor, p->name, ABOUT);
    ti_buf_printf(&b, "paragraph=For a %s; made by %s.\ncategory=Data Processing\nurl=\narchitectures=*\nincludes=%s\n",
                  core_name(ctx, p->core), p->made_by, header_of(p));
    return text_bytes(&b);
}

static tc_bytes manifest(tc_ctx *ctx, const tc_pack *p)
{
    tc_buf b;
    ti_buf_init(&b, &ctx->arena);
    ti_buf_printf(&b, "{\n  \"name\": \"%s\",\n  \"version\": \"%s\",\n  \"description\": \"%s, for a %s\",\n", p->name,
                  p->version, ABOUT, core_name(ctx, p->core));
    ti_buf_printf(&b, "  \"keywords\": \"machine learning\",\n  \"headers\": \"%s\",\n  \"frameworks\": \"*\",\n  \"platforms\": \"*\"\n}\n",
                  header_of(p));
    return text_bytes(&b);
}

tc_bytes ti_pack_library(tc_ctx *ctx, const tc_pack *p)
{
    tc_zip zip;
    const char *folder = ti_text_format(&ctx->arena, "%s/", p->name);
    ti_zip_begin(&zip, &ctx->arena);
    ti_zip_add(&zip, ti_text_format(&ctx->arena, "%slibrary.properties", folder), properties(ctx, p));
    ti_zip_add(&zip, ti_text_format(&ctx->arena, "%slibrary.json", folder), manifest(ctx, p));
    add_sources(ctx, &zip, p, ti_text_format(&ctx->arena, "%ssrc/", folder));
    return ti_zip_end(&zip);
}
