/* The public interface of libleveret, in plain C99: what stands here is kept, nothing else is
 * promised. It scores with models of `leveret train` and `leveret export`; leveret(3) explains it.
 *
 * Every function that can fail returns a status, LEVERET_OK being 0. leveret_error_message() then
 * says what was wrong, in words for people. Nothing throws, prints, or ends the program. NULL where
 * something is needed is LEVERET_BAD_ARGUMENT; a pointer to anything else than what the function
 * asks for is undefined, as everywhere in C.
 *
 * Threads: a model may be used by any number of threads at once, a predictor by one at a time. */
#ifndef LEVERET_LEVERET_H
#define LEVERET_LEVERET_H

#include <stddef.h>
#include <stdint.h>

#define LEVERET_VERSION_MAJOR 0
#define LEVERET_VERSION_MINOR 1
#define LEVERET_VERSION_PATCH 0
/* The version of this header. */
#define LEVERET_VERSION_STRING "0.1.0"
/* Of the binary interface: a program needs a library that says this number. */
#define LEVERET_ABI_VERSION 1

#if defined(__GNUC__)
#define LEVERET_API __attribute__((visibility("default")))
#else
#define LEVERET_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that the program runs with, such as "0.1.0"; lives for ever. Any
 * thread may ask. */
LEVERET_API const char* leveret_version(void);
/* LEVERET_ABI_VERSION of that library. */
LEVERET_API int leveret_abi_version(void);

enum {
  LEVERET_OK = 0,
  LEVERET_BAD_ARGUMENT = 1, /* NULL, a number out of range, what this model cannot do */
  LEVERET_BAD_FILE = 2,     /* cannot be read, is no model, or is damaged */
  LEVERET_BAD_LINE = 3,     /* text that is no example; the other lines are scored */
  LEVERET_NO_MEMORY = 4,
  LEVERET_FAILED = 5 /* something else; the message says what */
};

/* What went wrong in the last call of this thread that failed; "" before the first. Good until this
 * thread's next call that fails. */
LEVERET_API const char* leveret_error_message(void);

/* ---- Models ---- */

/* A place for a model, which may be replaced while others predict. */
typedef struct leveret_model leveret_model;

/* Reads a file of `leveret train` or `leveret export`, and checks all of it. */
LEVERET_API int leveret_model_open(const char* path, leveret_model** model);
/* Puts another file's model in the place. Where that fails, the model that is there stays. Each
 * predictor moves on with its next request (leveret_set_context, or a prediction without a
 * context); the old model lives until the last of them has. */
LEVERET_API int leveret_model_replace(leveret_model* model, const char* path);
/* Puts the model in the place that `count` patches of `leveret diff` make of the one that is there,
 * one after the other: patches[0] is for that model, patches[1] for what patches[0] makes of it.
 * Patches at the front that it has behind it are passed over. The model is saved as `to`, too,
 * whole or not at all, which may be the file that it was opened from, but none of the patches
 * (LEVERET_BAD_ARGUMENT); NULL: it is not saved.
 * Otherwise as leveret_model_replace: where a patch is for another model, is missing from the
 * chain, cut or damaged, the call returns LEVERET_BAD_FILE, the model that is there stays, and so
 * does a file `to`. The base is the file that the model was read from, which stays open: it may
 * have been replaced by renaming, but not written over. Takes the caller's thread, memory for
 * another model, and room for a model at `to`, or else in the folder TMPDIR (/tmp). */
LEVERET_API int leveret_model_patch(leveret_model* model, const char* const* patches, size_t count,
                                    const char* to);
/* The fingerprint of the file of the model that is there now: 32 hexadecimal digits and a zero,
 * equal for equal models, as `leveret inspect` tells it. */
LEVERET_API int leveret_model_fingerprint(const leveret_model* model, char fingerprint[33]);
/* LEVERET_NO_SEQUENCE: the file does not tell. */
#define LEVERET_NO_SEQUENCE UINT64_MAX
/* How many examples it has learned. */
LEVERET_API int leveret_model_sequence(const leveret_model* model, uint64_t* sequence);
/* Looks at the file or folder `path`, now in the caller's thread and then in one of the library's
 * every `interval_ms` milliseconds (0: 1000), and puts a new model that is there in the place, as
 * `leveret predict --watch` does: a file that another one has taken the place of; a folder of
 * `leveret publish`; a folder of models and patches. A file that cannot be used leaves the model
 * that is there, is tried again when it changes, and is no failure of this call
 * (leveret_model_watched tells of it). Ends the watch before, if there is one; NULL only ends it.
 * Waits for a look that is under way. The thread hears no signals. */
LEVERET_API int leveret_model_watch(leveret_model* model, const char* path, unsigned interval_ms);
/* What the watch has come to: how many models it has put in the place (NULL: not asked), and what
 * is wrong with what it has found last, cut to `size` bytes with the zero behind it; "": nothing.
 * LEVERET_BAD_ARGUMENT while there is no watch. */
LEVERET_API int leveret_model_watched(const leveret_model* model, uint64_t* taken, char* problem,
                                      size_t size);
/* Predictors that are left keep the model they have. Ends a watch. NULL is no error. */
LEVERET_API void leveret_model_close(leveret_model* model);

/* Hashes of a namespace's name, and of a feature's name within the namespace of that hash, as
 * models of this one's kind hash text; `size` in bytes. */
LEVERET_API int leveret_hash_namespace(const leveret_model* model, const char* name, size_t size,
                                       uint32_t* hash);
LEVERET_API int leveret_hash_feature(const leveret_model* model, uint32_t namespace_hash,
                                     const char* name, size_t size, uint32_t* hash);
/* How many fields the model has: they are numbered from 0, in the order of `leveret inspect`. */
LEVERET_API int leveret_field_count(const leveret_model* model, uint32_t* count);

/* ---- Predictors ---- */

typedef struct leveret_predictor leveret_predictor;

/* `context`: the namespaces that contexts have, separated by commas, such as "user,page"; NULL or
 * "": there are no contexts. */
LEVERET_API int leveret_predictor_new(leveret_model* model, const char* context,
                                      leveret_predictor** predictor);
/* NULL is no error. */
LEVERET_API void leveret_predictor_free(leveret_predictor* predictor);

/* Begins a request: `line` (`size` bytes of VW text, one line) has the features that all of its
 * candidates share, all of them of the context's namespaces. It is good until the next one; after
 * an error there is none. */
LEVERET_API int leveret_set_context(leveret_predictor* predictor, const char* line, size_t size);
/* leveret_model_fingerprint and leveret_model_sequence of the model that has answered the
 * predictor's last request, while others may have replaced it; before the first, of the one that it
 * was made with. */
LEVERET_API int leveret_predictor_fingerprint(const leveret_predictor* predictor,
                                              char fingerprint[33]);
LEVERET_API int leveret_predictor_sequence(const leveret_predictor* predictor, uint64_t* sequence);

/* From now on each candidate is all there is. */
LEVERET_API int leveret_clear_context(leveret_predictor* predictor);

/* Scores the candidates of `text`: `count` lines of VW text, `size` bytes, with or without a line
 * end behind the last. probabilities[i] is that of line i: of the context and the line, taken
 * together. A line that is no example gets NaN, and the call returns LEVERET_BAD_LINE. */
LEVERET_API int leveret_predict_lines(leveret_predictor* predictor, const char* text, size_t size,
                                      float* probabilities, size_t count);

/* What the `space` of a feature is. */
enum {
  LEVERET_BY_FIELD = 0,    /* the number of its field */
  LEVERET_BY_NAMESPACE = 1 /* the hash of its namespace */
};

typedef struct leveret_feature {
  uint32_t space;
  uint32_t hash; /* of the feature, as leveret_hash_feature says */
  float value;   /* finite; 0: as if the feature were not there */
} leveret_feature;

/* The same without text. Candidate i has the features [ends[i - 1], ends[i]) of `features`, the
 * first those from 0 on; at most 2^20 each, in any order. `by`: LEVERET_BY_FIELD or
 * LEVERET_BY_NAMESPACE. */
LEVERET_API int leveret_predict_features(leveret_predictor* predictor, int by,
                                         const leveret_feature* features, const size_t* ends,
                                         float* probabilities, size_t count);
/* leveret_set_context without text: one context of `count` features. */
LEVERET_API int leveret_set_context_features(leveret_predictor* predictor, int by,
                                             const leveret_feature* features, size_t count);

#ifdef __cplusplus
}
#endif

#endif
