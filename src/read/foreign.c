/* SPDX-License-Identifier: Apache-2.0 */
/* foreign.c -- see foreign.h. */
#include "foreign.h"

typedef struct {
    size_t at;
    const char *magic, *is, *todo;
} foreign;

static const foreign kinds[] = {
#define FOREIGN(at, magic, is, todo) {at, magic, is, todo},
#include "foreign.def"
};

static const char export_it[] = "write the model with torch.export.save(torch.export.export(model, "
                                "args), path); from Python, tosac.compile() takes the module itself";

/* Text has no zero bytes, and nothing but white space below ' ' near its beginning. */
static bool is_text(tc_bytes bytes)
{
    for (size_t i = 0; i < bytes.size && i < 256; i++)
        if (bytes.data[i] < ' ' && !strchr("\t\n\r", bytes.data[i] ? bytes.data[i] : 1))
            return false;
    return bytes.size > 0;
}

/* Past white space; comments: and past lines that begin with '#'. */
static size_t first_word(tc_bytes bytes, bool comments)
{
    size_t at = 0;
    while (at < bytes.size) {
        if (strchr(" \t\r\n", bytes.data[at] ? bytes.data[at] : 1))
            at++;
        else if (comments && bytes.data[at] == '#')
            while (at < bytes.size && bytes.data[at] != '\n')
                at++;
        else
            break;
    }
    return at;
}

static bool begins(tc_bytes bytes, size_t at, const char *const *word)
{
    for (; *word; word++)
        if (ti_bytes_have(bytes, at, *word))
            return true;
    return false;
}

bool ti_looks_like_page(tc_bytes bytes)
{
    static const char *const word[] = {"<!DOCTYPE", "<!doctype", "<html", "<HTML", "<?xml", NULL};
    return begins(bytes, first_word(bytes, false), word);
}

bool ti_text_graph_looks_like(const char *path, tc_bytes bytes)
{
    static const char *const word[] = {"graph", "made_by \"", "file \"", "producer \"", "in_tree \"",
                                       "out_tree \"", "bin \"", NULL};
    static const char *const end[] = {".ir", ".graph", NULL};
    if (!is_text(bytes))
        return false;
    if (ti_text_eq(path, "-"))
        return true;
    for (size_t i = 0; end[i]; i++)
        if (ti_text_ends(path, end[i]))
            return true;
    return begins(bytes, first_word(bytes, true), word);
}

static const foreign *kind_of(tc_bytes bytes)
{
    for (size_t i = 0; i < TC_COUNT(kinds); i++)
        if (ti_bytes_have(bytes, kinds[i].at, kinds[i].magic))
            return &kinds[i];
    return NULL;
}

bool ti_looks_foreign(tc_bytes bytes)
{
    return !bytes.size || is_text(bytes) || kind_of(bytes);
}

static foreign kind_of_text(const char *path, tc_bytes bytes)
{
    static const char *const python[] = {"import ", "from ", "def ", "class ", "\"\"\"", NULL};
    size_t at = first_word(bytes, true);
    if (ti_looks_like_page(bytes))
        return (foreign){.is = "a web page (HTML)",
                         .todo = "the download gave a page in the file's place"};
    if (ti_text_ends(path, ".py") || begins(bytes, at, python))
        return (foreign){.is = "Python source", .todo = export_it};
    if (ti_bytes_have(bytes, at, "{") || ti_bytes_have(bytes, at, "["))
        return (foreign){.is = "JSON", .todo = "settings of quantization go to -q"};
    return (foreign){.is = "text",
                     .todo = "a graph as text (.ir) begins with 'graph @main(...) {'"};
}

static foreign describe(const char *path, tc_bytes bytes)
{
    const foreign *known = kind_of(bytes);
    if (known)
        return *known;
    if (ti_looks_like_page(bytes) || is_text(bytes))
        return kind_of_text(path, bytes);
    if (ti_text_ends(path, ".pb"))
        return (foreign){.is = "a TensorFlow graph (.pb) by its name",
                         .todo = "write a .tflite of it: "
                                 "tf.lite.TFLiteConverter.from_saved_model(folder).convert()"};
    return (foreign){0};
}

tc_status ti_foreign_file(tc_ctx *ctx, const char *path, tc_bytes bytes)
{
    const tc_loc loc = {.file = path};
    foreign f = describe(path, bytes);
    tc_status status =
        !bytes.size ? ti_error(ctx, &loc, TC_E_FORMAT, "the file is empty")
        : f.is ? ti_error(ctx, &loc, TC_E_FORMAT, "this is %s, not a model", f.is)
             : ti_error(ctx, &loc, TC_E_FORMAT, "this is not a model that tosac reads");
    if (f.todo)
        ti_note(ctx, &loc, "%s", f.todo);
    ti_note(ctx, &loc,
            "it reads PyTorch exports (.pt2), ONNX models (.onnx), TensorFlow Lite models "
            "(.tflite), TOSA flatbuffers (.tosa), VGF files (.vgf), ExecuTorch programs (.pte, "
            ".bpte), Vela's streams (_vela.npz, .bin) and text graphs (.ir)");
    return status;
}
