/* The public interface of libleveret, in plain C99: what stands here is kept, nothing else is
 * promised. It scores with models of `leveret train` and `leveret export`, and learns as `leveret
 * train` does; leveret(3) explains it.
 *
 * Every function that can fail returns a status, LEVERET_OK being 0. leveret_error_message() then
 * says what was wrong, in words for people. Nothing throws, prints, or ends the program. NULL where
 * something is needed is LEVERET_BAD_ARGUMENT; a pointer to anything else than what the function
 * asks for is undefined, as everywhere in C.
 *
 * Threads: a model may be used by any number of threads at once, a predictor or a learner by one at
 * a time. */
#ifndef LEVERET_LEVERET_H
#define LEVERET_LEVERET_H

#include <stddef.h>
#include <stdint.h>

#define LEVERET_VERSION_MAJOR 0
#define LEVERET_VERSION_MINOR 1
#define LEVERET_VERSION_PATCH 0
/* The version of this header. */
#define LEVERET_VERSION_STRING "0.1.0"
/* The version of the binary interface: a program needs a library that says this number. */
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
  LEVERET_BAD_LINE = 3,     /* text that is no example; the other lines are scored, or learned */
  LEVERET_NO_MEMORY = 4,
  LEVERET_FAILED = 5, /* something else; the message says what */
  LEVERET_STOPPED = 6 /* a leveret_progress has ended the call */
};

/* The error of the last call of this thread that failed; "" before the first. Good until this
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
 * (LEVERET_BAD_ARGUMENT), and no file of examples, text or another kind (LEVERET_BAD_FILE); NULL: it
 * is not saved.
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
/* Looks at the file `path`, or the folder of `leveret publish`, now in the caller's thread and then in one of the library's
 * every `interval_ms` milliseconds (0: 1000), and puts a new model that is there in the place, as
 * `leveret predict --watch` does: a file that another one has taken the place of; a step of such
 * a folder. A file that cannot be used leaves the model
 * that is there, is tried again when it changes, and is no failure of this call
 * (leveret_model_watched tells of it). Ends the watch before, if there is one; NULL only ends it.
 * Waits for a look that is under way. The thread hears no signals. */
LEVERET_API int leveret_model_watch(leveret_model* model, const char* path, unsigned interval_ms);
/* The results of the watch so far: how many models it has put in the place (NULL: not asked), and
 * what is wrong with what it has found last, cut to `size` bytes with the zero behind it; "":
 * nothing. LEVERET_BAD_ARGUMENT while there is no watch. */
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

/* Whether what the predictor scores is like what the model has learned (leveret-predict(1), SKEW),
 * of windows of 1,000 lines or arrays: how many windows there were, and how many of these had
 * something remarkable (NULL: not asked), with all models that it has had. `text`: what it was, a
 * line for each kind and namespace, cut to `size` bytes with the zero behind it; "": nothing, or
 * the model's file does not tell what was learned. */
LEVERET_API int leveret_predictor_skew(const leveret_predictor* predictor, uint64_t* windows,
                                       uint64_t* skewed, char* text, size_t size);

/* From now on each candidate is all there is. */
LEVERET_API int leveret_clear_context(leveret_predictor* predictor);

/* Scores the candidates of `text`: `count` lines of VW text, `size` bytes, with or without a line
 * end behind the last. probabilities[i] is that of line i: of the context and the line, taken
 * together. A line that is no example gets NaN, and the call returns LEVERET_BAD_LINE. */
LEVERET_API int leveret_predict_lines(leveret_predictor* predictor, const char* text, size_t size,
                                      float* probabilities, size_t count);

/* Raw rows, for a model that has learned raw rows (leveret-schema(1)): each a line with an object
 * of JSON by the names of its columns, such as {"age": 42, "city": null, "tags": ["a", "b"]}. What
 * values mean is said in leveret-serve(1). LEVERET_BAD_ARGUMENT where the model knows no columns. */

/* The columns that all candidates share, as leveret_set_context. */
LEVERET_API int leveret_set_context_row(leveret_predictor* predictor, const char* row, size_t size);
/* Scores `count` rows, as leveret_predict_lines. With a context of rows, a row has other columns
 * than that; a column that neither has is missing. */
LEVERET_API int leveret_predict_rows(leveret_predictor* predictor, const char* rows, size_t size,
                                     float* probabilities, size_t count);

/* The kinds of `space` that a feature may have. */
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

/* ---- Learners ---- */

/* Learns a model from lines or arrays, and predicts each example before it learns from it. In one
 * thread the model is, bit for bit, that of `leveret train` with the same options and lines,
 * however these come in calls. */
typedef struct leveret_learner leveret_learner;

/* Begins a new model. `options`: those of `leveret train` about the model and how it learns, and
 * --threads, --pin and --max_memory, in one string, quoted as in a shell, such as
 * "--ffm_k 8 --hidden 64,32"; NULL or "": the defaults. */
LEVERET_API int leveret_learner_open(const char* options, leveret_learner** learner);
/* Goes on with the model of this file, of `leveret train` or leveret_learner_save, exactly there;
 * an export lacks what learning needs (LEVERET_BAD_FILE). `options` of learning may differ
 * from the model's. */
LEVERET_API int leveret_learner_resume(const char* path, const char* options,
                                       leveret_learner** learner);
/* A model that was not saved is lost. NULL is no error. */
LEVERET_API void leveret_learner_close(leveret_learner* learner);

/* Asked between parts of a call that learns, in its thread: `learned` of its `count` lines or
 * examples are. Any other answer than 0 ends the call, which returns LEVERET_STOPPED, or
 * LEVERET_BAD_LINE where there was a bad one: what was learned stays so, what was not has NaN, and
 * the learner goes on with its next call. It may not use the learner. */
typedef int (*leveret_progress)(void* data, size_t learned, size_t count);
/* For the calls from now on; NULL: nobody is asked. */
LEVERET_API int leveret_learner_set_progress(leveret_learner* learner, leveret_progress progress,
                                             void* data);

/* Learns from the lines of `text`, `size` bytes of VW text, with or without a line end behind the
 * last. probabilities[i] becomes that of line i, which was predicted before the line was learned;
 * of a line that waits for the rest of its batch (--batch_size), as the model is when the call
 * ends. A blank line gets NaN. A line that is no example gets NaN and is not learned, and the call
 * returns LEVERET_BAD_LINE, having learned the others. `probabilities` NULL: they are not asked
 * for, and `count` is passed over; else there are to be `count` lines, or nothing is learned
 * (LEVERET_BAD_ARGUMENT). After LEVERET_NO_MEMORY or LEVERET_FAILED half of a part may be learned:
 * then the learner can only be closed. */
LEVERET_API int leveret_learner_learn_lines(leveret_learner* learner, const char* text, size_t size,
                                            float* probabilities, size_t count);
/* The same without text, of `count` examples. Example i has labels[i] (1: a click; 0 or -1: none;
 * NaN: not known, so that it is only predicted), importances[i] (from 0 to 1e12; importances NULL:
 * 1 each), and the features [ends[i - 1], ends[i]) of `features`, the first those from 0 on, at
 * most 2^20 each. `space` of a feature is the hash of a namespace that the model has met, or that
 * leveret_learner_hash_namespace was asked for. After LEVERET_BAD_ARGUMENT nothing is learned. */
LEVERET_API int leveret_learner_learn_features(leveret_learner* learner, const float* labels,
                                               const float* importances,
                                               const leveret_feature* features, const size_t* ends,
                                               float* probabilities, size_t count);

/* Score without learning, with the model as it is now: as leveret_predict_lines, and as
 * leveret_predict_features with LEVERET_BY_NAMESPACE. */
LEVERET_API int leveret_learner_predict_lines(leveret_learner* learner, const char* text,
                                              size_t size, float* probabilities, size_t count);
LEVERET_API int leveret_learner_predict_features(leveret_learner* learner,
                                                 const leveret_feature* features,
                                                 const size_t* ends, float* probabilities,
                                                 size_t count);

/* As leveret_hash_namespace and leveret_hash_feature. From then on features may be of that
 * namespace. */
LEVERET_API int leveret_learner_hash_namespace(leveret_learner* learner, const char* name,
                                               size_t size, uint32_t* hash);
LEVERET_API int leveret_learner_hash_feature(const leveret_learner* learner,
                                             uint32_t namespace_hash, const char* name, size_t size,
                                             uint32_t* hash);

/* Learns what waits for the rest of its batch, and saves the model, whole or not at all: the file
 * that `leveret train -f` saves which has learned the same text, or, where it was saved or opened
 * before, that of `leveret train -i` with the text since. The learner goes on. LEVERET_BAD_ARGUMENT
 * where no labelled example has come to a new model. */
LEVERET_API int leveret_learner_save(leveret_learner* learner, const char* path);

/* Lines or examples that all calls together have taken: learned, blank or bad. */
LEVERET_API int leveret_learner_lines(const leveret_learner* learner, uint64_t* lines);

/* Figures of predictions, as `leveret evaluate --json` has them; NaN where a figure has no value,
 * as nothing was seen, or one class only. */
typedef struct leveret_metrics {
  uint64_t examples;      /* with a label, and an importance above 0 */
  uint64_t not_finite;    /* predictions that were NaN or infinite: in no other figure */
  double weight;          /* sum of importances; all means are weighted by them */
  double logloss;         /* mean, natural logarithm */
  double auc;             /* area under the ROC curve */
  double auc_error;       /* 0 where auc is exact, else the bound of its error */
  double ne;              /* normalised entropy: logloss / entropy of base_rate */
  double rig;             /* relative information gain: 1 - ne */
  double calibration;     /* sum of predictions / number of clicks */
  double base_rate;       /* clicks / weight */
  double mean_prediction; /* sum of predictions / weight */
} leveret_metrics;

/* Figures of what the learner has predicted before it was learned, since it was opened: those that
 * `leveret train` shows. */
LEVERET_API int leveret_learner_metrics(leveret_learner* learner, leveret_metrics* metrics);
/* Figures of any predictions, [count], with labels and importances as in
 * leveret_learner_learn_features: what `leveret evaluate` tells. No model is needed.
 * LEVERET_BAD_ARGUMENT names a prediction that is finite and not from 0 to 1. */
LEVERET_API int leveret_evaluate(const float* labels, const float* importances,
                                 const float* probabilities, size_t count,
                                 leveret_metrics* metrics);

#ifdef __cplusplus
}
#endif

#endif
