/// The table. Names are those of Vowpal Wabbit 9.11 and of Fwumious Wabbit's main branch.
#include "cli/vw/words.h"

namespace leveret::cli {
namespace {

using enum Verdict;

constexpr const char* kConvert = "`leveret convert csv -d FILE | leveret train` reads CSV";
constexpr const char* kText =
    "lines are VW text (man leveret-text); `leveret convert` makes it of CSV and others";
constexpr const char* kInLines = "make such features in the lines, or by --transform";
constexpr const char* kFirstWeights = "linear weights begin at 0, vectors by --ffm_init_width";
constexpr const char* kWeights =
    "`leveret inspect MODEL --weights --top 1000000 --names DATA` prints features with their "
    "weights, "
    "`leveret audit` what each adds to a line";
constexpr const char* kServe = "`leveret serve -i MODEL --port N` answers lines";
constexpr const char* kRanks = "`mpirun -n N leveret-mpi train` learns on several machines";
constexpr const char* kLogistic =
    "clicks are learned by logistic loss; leave it out, or say logistic";
constexpr const char* kLogisticLink =
    "predictions are probabilities; `leveret predict --link identity` prints log-odds";

constexpr Word kInput[] = {
    {"data", 'd', "FILE", "", kSame, "a bare name is a file of data, too"},
    {"cache", 'c', "", "", kSame, "-c FILE names the cache; so give data by -d"},
    {"cache_file", 0, "FILE", "", kTaken, "-c {}"},
    {"kill_cache", 'k', "", "", kSame, ""},
    {"passes", 0, "N", "", kSame, "with several passes every tenth example is held out"},
    {"compressed", 0, "", "", kIgnored,
     "gzip and zstd are known by their first bytes, and caches are not packed"},
    {"no_stdin", 0, "", "", kSay,
     "data is standard input only where no file is named: give -d FILE"},
    {"examples", 0, "N", "", kSay, "`head -n {} FILE | leveret train` reads the first lines"},
    {"json", 0, "", "", kSay, kText},
    {"dsjson", 0, "", "", kSay, kText},
    {"flatbuffer", 0, "", "", kSay, kText},
    {"chain_hash", 0, "", "", kIgnored, "a text behind a colon is always hashed with its name"},
    {"ignore_features_dsjson_experimental", 0, "NAME", "", kSay, kText},
    {"csv", 0, "", "", kSay, kConvert},
    {"csv_header", 0, "NAME,...", "", kSay,
     "`leveret convert csv --columns NAME,...` names the columns"},
    {"csv_no_file_header", 0, "", "", kSay,
     "`leveret convert csv --columns NAME,...` is for files without a header"},
    {"csv_separator", 0, "BYTE", "", kSay, "`leveret convert csv --delimiter BYTE` reads it"},
    {"csv_ns_value", 0, "X", "", kSay, kConvert},
    {"strict_parse", 0, "", "", kTaken, "--bad_lines fail"},
    {"ring_size", 0, "N", "", kIgnored, "how far is read ahead follows from the size of the lines"},
    {"example_queue_limit", 0, "N", "", kIgnored,
     "how far is read ahead follows from the size of the lines"},
    {"onethread", 0, "", "", kIgnored, "one thread is the default; --threads N uses several"},
    {"threads", 0, "N", "", kSame, "threads that learn"},
};

constexpr Word kFeatures[] = {
    {"bit_precision", 'b', "N", "", kSame,
     "without -b the table grows with the features; with -b it has 2^N slots of 32 bytes from the "
     "start, 8 bytes with --heads one"},
    {"hash", 0, "strings|all", "", kSame, ""},
    {"hash_seed", 0, "N", "", kSame, ""},
    {"quadratic", 'q', "AB", "", kSame, "`-q ab -q ba` makes both"},
    {"cubic", 0, "ABC", "", kTaken, "--interactions {}"},
    {"interactions", 0, "ABC", "", kSame, "two or three namespaces"},
    {"experimental_full_name_interactions", 0, "A|B", "", kSay, "`-q A*B` takes whole names"},
    {"permutations", 0, "", "", kSay, "not supported: `-q aa` has each pair once"},
    {"leave_duplicate_interactions", 0, "", "", kHolds, "all interactions that are given are made"},
    {"ignore", 0, "A", "", kSame,
     "whole names, or a letter for all that begin with it; commas between several"},
    {"ignore_linear", 0, "A", "", kSay, "`--linear NS,...` lists those with linear weights"},
    {"keep", 0, "A", "", kSame,
     "as --ignore; Fwumious Wabbit's list of linear terms is `--linear NS,...`"},
    {"noconstant", 0, "", "", kSame, ""},
    {"constant", 'C', "X", "", kSay, "the constant starts at 0"},
    {"redefine", 0, "N:=S", "", kSay, "rename the namespaces in the lines"},
    {"ngram", 0, "N", "", kSay, kInLines},
    {"skips", 0, "N", "", kSay, kInLines},
    {"affix", 0, "LIST", "", kSay, kInLines},
    {"spelling", 0, "A", "", kSay, kInLines},
    {"dictionary", 0, "FILE", "", kSay, kInLines},
    {"dictionary_path", 0, "DIR", "", kSay, kInLines},
    {"feature_limit", 0, "N", "", kSay, "not supported: --ignore leaves out namespaces"},
    {"sort_features", 0, "", "", kIgnored, "features stay in the order of the line"},
    {"marginal", 0, "A", "", kSay, "counts of clicks are learned for each feature (--heads mixed)"},
};

constexpr Word kLearning[] = {
    {"loss_function", 0, "logistic", "", kOnly, kLogistic},
    {"learning_rate", 'l', "X", "", kSame,
     "good rates differ from Vowpal Wabbit's: start with the default; it is the linear part's "
     "rate, and FFM and layers have --ffm_learning_rate and --nn_learning_rate"},
    {"power_t", 0, "X", "", kSame, "power of AdaGrad's sum; with --sgd the rate is constant"},
    {"initial_t", 0, "X", "", kIgnored,
     "AdaGrad's steps shrink with the squared gradients, not with time; --sgd's are constant"},
    {"decay_learning_rate", 0, "X", "", kSay,
     "the rate is the same in all passes; `-i MODEL -l X` continues with another rate"},
    {"l1", 0, "X", "", kSame, "only with --ftrl"},
    {"l2", 0, "X", "", kSame, "applies to the weights that a line moves"},
    {"sparse_l2", 0, "", "", kHolds, "--l2 applies to the weights that a line moves"},
    {"no_bias_regularization", 0, "", "", kHolds, "--l2 does not apply to the constant"},
    {"sgd", 0, "", "", kTaken, "--optimizer sgd"},
    {"adaptive", 0, "", "", kTaken, "--optimizer adagrad"},
    {"normalized", 0, "", "", kIgnored,
     "with --heads mixed values are divided by the largest of their feature; with --heads one "
     "never"},
    {"invariant", 0, "", "", kIgnored, "an importance multiplies the gradient"},
    {"adax", 0, "", "", kSay, "--optimizer is adagrad, sgd, ftrl or adam"},
    {"ftrl", 0, "", "", kTaken, "--optimizer ftrl"},
    {"ftrl_alpha", 0, "X", "", kTaken, "--learning_rate {}"},
    {"ftrl_beta", 0, "X", "", kSame, ""},
    {"coin", 0, "", "", kSay, "--optimizer is adagrad, sgd, ftrl or adam"},
    {"pistol", 0, "", "", kSay, "--optimizer is adagrad, sgd, ftrl or adam"},
    {"freegrad", 0, "", "", kSay, "--optimizer is adagrad, sgd, ftrl or adam"},
    {"bfgs", 0, "", "", kSay, "learning is online, or in batches: --batch_size N"},
    {"conjugate_gradient", 0, "", "", kSay, "learning is online, or in batches: --batch_size N"},
    {"svrg", 0, "", "", kSay, "learning is online, or in batches: --batch_size N"},
    {"minibatch", 0, "N", "", kSay, "--batch_size {} sums the gradients of a batch"},
    {"random_seed", 0, "N", "", kTaken, "--seed {}"},
    {"initial_weight", 0, "X", "", kSay, kFirstWeights},
    {"random_weights", 0, "", "", kSay, kFirstWeights},
    {"normal_weights", 0, "", "", kSay, kFirstWeights},
    {"truncated_normal_weights", 0, "", "", kSay, kFirstWeights},
    {"sparse_weights", 0, "", "", kIgnored,
     "without -b the table holds only the features that were seen"},
    {"feature_mask", 0, "MODEL", "", kSay,
     "--ignore and --keep choose namespaces; `leveret export --min_count N` leaves out rare "
     "features"},
    {"classweight", 0, "LIST", "", kSay, "put the importance into the line, after the label"},
    {"nn", 0, "N", "", kSay, "--hidden {} makes a layer of ReLU units"},
    {"dropout", 0, "", "", kSay, "layers have no dropout"},
    {"inpass", 0, "", "", kSay, "the model always has a linear part: leave the option out"},
    {"meanfield", 0, "", "", kSay, "layers have no dropout"},
    {"multitask", 0, "", "", kSay, "there is one task, clicks"},
    {"lrq", 0, "ABK", "", kSay,
     "--model fm is a factorization machine, --ffm_k K makes a field-aware one, of the --field "
     "that are given"},
    {"lrqfa", 0, "ABK", "", kSay, "--ffm_k K makes a field-aware factorization machine"},
    {"lrqdropout", 0, "", "", kSay, "factorization machines have no dropout"},
    {"rank", 0, "K", "", kSay, "--model fm --embedding_dim {} is a factorization machine"},
    {"new_mf", 0, "K", "", kSay, "--model fm --embedding_dim {} is a factorization machine"},
    {"bootstrap", 0, "N", "", kSay, "one model is learned in a run; --seed N makes others"},
    {"interaction", 0, "N", "", kSay, "--interactions A*B makes products of namespaces"},
};

constexpr Word kTesting[] = {
    {"testonly", 't', "", "predict evaluate audit serve", kHolds, "they learn nothing"},
    {"testonly", 't', "", "", kSay,
     "`leveret predict -i MODEL -p FILE` predicts, `leveret evaluate -i MODEL` prints loss "
     "and AUC"},
    {"holdout_off", 0, "", "predict evaluate audit serve", kHolds, "they learn nothing"},
    {"holdout_off", 0, "", "", kSame, ""},
    {"holdout_period", 0, "N", "predict evaluate audit serve", kIgnored, "they learn nothing"},
    {"holdout_period", 0, "N", "", kSame, ""},
    {"holdout_after", 0, "N", "", kSame, "not with several passes"},
    {"early_terminate", 0, "N", "predict evaluate audit serve", kIgnored, "they learn nothing"},
    {"early_terminate", 0, "N", "", kSame, ""},
    {"initial_pass_length", 0, "N", "", kSay, "not supported: a pass reads all of the input"},
    {"progress", 'P', "N", "predict evaluate audit serve", kIgnored, "only train prints progress"},
    {"progress", 'P', "N|X.Y", "", kSame, "a point in the number makes it a factor"},
    {"quiet", 0, "", "evaluate audit", kHolds, "it prints only the result"},
    {"quiet", 0, "", "", kSame, ""},
    {"audit", 'a', "", "audit", kHolds, "that is this verb"},
    {"audit", 'a', "", "predict", kVerb, "audit"},
    {"audit", 'a', "", "", kSay,
     "`leveret audit -d FILE` prints features and hashes, with -i MODEL weights, too"},
    {"audit_regressor", 0, "FILE", "", kSay, kWeights},
    {"extra_metrics", 0, "FILE", "", kSay,
     "`leveret train --metrics {}` and `leveret evaluate --json` write figures"},
    {"metrics", 0, "FILE", "", kSame, "logloss, AUC and others for each window of examples"},
    {"driver_output", 0, "FILE", "", kSay, "messages go to standard error: `2>{}`"},
    {"driver_output_off", 0, "", "", kTaken, "--quiet"},
    {"limit_output", 0, "N", "", kIgnored,
     "the first ten bad lines are reported, then only their number"},
    {"log_level", 0, "LEVEL", "", kIgnored, "--quiet is the only level"},
    {"log_output", 0, "WHERE", "", kIgnored, "messages go to standard error"},
    {"dry_run", 0, "", "", kSay,
     "give an empty file: wrong options are reported before anything is read"},
    {"help", 'h', "", "", kSame, "`leveret help vw` is this list"},
    {"version", 0, "", "", kSay, "`leveret --version` prints it"},
};

constexpr Word kModels[] = {
    {"initial_regressor", 'i', "MODEL", "", kSame,
     "a model of Leveret; it keeps the options that it was learned with"},
    {"final_regressor", 'f', "MODEL", "", kSame, ""},
    {"save_resume", 0, "", "", kHolds,
     "a model always has the state that learning needs to continue"},
    {"predict_only_model", 0, "", "", kSay,
     "`leveret export -i MODEL -o FILE` makes a small model for predictions"},
    {"preserve_performance_counters", 0, "", "", kIgnored, "figures count the examples of one run"},
    {"save_per_pass", 0, "", "", kSay, "--save_every N saves a checkpoint every N examples"},
    {"readable_model", 0, "FILE", "", kSay, kWeights},
    {"invert_hash", 0, "FILE", "", kSay, kWeights},
    {"hexfloat_weights", 0, "", "", kSay, kWeights},
    {"dump_json_weights_experimental", 0, "FILE", "", kSay, kWeights},
    {"dump_json_weights_include_feature_names_experimental", 0, "", "", kSay, kWeights},
    {"dump_json_weights_include_extra_online_state_experimental", 0, "", "", kSay, kWeights},
    {"input_feature_regularizer", 0, "FILE", "", kSay, "--l2 is one number for all features"},
    {"output_feature_regularizer_binary", 0, "FILE", "", kSay,
     "--l2 is one number for all features"},
    {"output_feature_regularizer_text", 0, "FILE", "", kSay, "--l2 is one number for all features"},
    {"id", 0, "ID", "", kSay,
     "a model's file name is its name; `leveret inspect` shows its fingerprint"},
};

constexpr Word kAnswers[] = {
    {"predictions", 'p', "FILE", "", kSame, "stdout and - print them"},
    {"raw_predictions", 'r', "FILE", "", kSame,
     "option of predict; predictions still go to standard output unless -p FILE is given"},
    {"link", 0, "logistic", "train evaluate audit", kOnly, kLogisticLink},
    {"link", 0, "logistic|identity", "", kSame, "default: logistic"},
    {"min_prediction", 0, "X", "", kSay,
     "predictions are probabilities, between 0 and 1: leave it out"},
    {"max_prediction", 0, "X", "", kSay,
     "predictions are probabilities, between 0 and 1: leave it out"},
    {"daemon", 0, "", "serve", kIgnored,
     "serve stays in the foreground (systemd or & put it behind), listens on 127.0.0.1 without "
     "--address, and never learns"},
    {"daemon", 0, "", "", kSay, kServe},
    {"foreground", 0, "", "serve", kHolds, "serve stays in the foreground"},
    {"foreground", 0, "", "", kSay, kServe},
    {"no_daemon", 0, "", "", kHolds, "only serve listens"},
    {"port", 0, "N", "", kSame, "option of serve; default: 26542"},
    {"num_children", 0, "N", "serve", kTaken, "--threads {}"},
    {"num_children", 0, "N", "", kSay,
     "`leveret serve -i MODEL --threads {}` answers with several threads"},
    {"port_file", 0, "FILE", "", kSay, "serve prints its port on standard error"},
    {"pid_file", 0, "FILE", "", kSay, "`leveret serve ... & echo $! >{}` writes it"},
    {"span_server", 0, "HOST", "", kSay, kRanks},
    {"span_server_port", 0, "N", "", kSay, kRanks},
    {"total", 0, "N", "", kSay, kRanks},
    {"node", 0, "N", "", kSay, kRanks},
    {"unique_id", 0, "N", "", kSay, kRanks},
};

constexpr Word kFwumious[] = {
    {"linear", 0, "NS,...", "", kSame, "one list of namespaces, without weights"},
    {"transform", 0, "NEW=F(NS,...)(...)", "", kSame, ""},
    {"ffm_k", 0, "K", "", kSame, ""},
    {"ffm_field", 0, "ABC", "", kSay, "`--field a,b,c` makes a field of namespaces"},
    {"ffm_field_verbose", 0, "NS,...", "", kTaken, "--field {}"},
    {"ffm_bit_precision", 0, "N", "", kIgnored,
     "vectors have no hashed table: a feature gets its row when it is seen"},
    {"ffm_k_threshold", 0, "X", "", kSay, "all vectors have --ffm_k numbers"},
    {"ffm_init_width", 0, "X", "", kSame,
     "the standard deviation times sqrt(K), not the whole width"},
    {"ffm_init_center", 0, "X", "", kSay, "vectors begin around 0: leave it out"},
    {"ffm_init_zero_band", 0, "X", "", kSay, "vectors begin uniform around 0: leave it out"},
    {"ffm_initialization_type", 0, "NAME", "", kSay,
     "vectors begin uniform around 0: leave it out"},
    {"ffm_learning_rate", 0, "X", "", kSame, ""},
    {"nn_learning_rate", 0, "X", "", kSame, ""},
    {"minimum_learning_rate", 0, "X", "", kSay,
     "not supported: steps may shrink to nothing; for data that drifts, --heads mixed:fast=on"},
    {"ffm_power_t", 0, "X", "", kSame, ""},
    {"nn_power_t", 0, "X", "", kSame, ""},
    {"init_acc_gradient", 0, "X", "", kSame, ""},
    {"ffm_init_acc_gradient", 0, "X", "", kSame, ""},
    {"nn_init_acc_gradient", 0, "X", "", kSame, ""},
    {"nn_layers", 0, "N", "", kSay, "--hidden N,... gives the width of each layer"},
    {"nn_topology", 0, "NAME", "", kSay,
     "layers read the pairs of the factorization machine; --heads one adds it all up"},
    {"vwcompat", 0, "", "", kIgnored, "hashes are always Vowpal Wabbit's"},
    {"hogwild_training", 0, "", "", kIgnored, "--threads N uses several threads"},
    {"hogwild_threads", 0, "N", "", kTaken, "--threads {}"},
    {"predictions_stdout", 0, "", "", kTaken, "-p -"},
    {"predictions_after", 0, "N", "", kSay, "`tail -n +N` leaves out the first predictions"},
    {"prediction_model_delay", 0, "N", "", kSay,
     "an example is predicted with everything that was learned before it"},
    {"build_cache_without_training", 0, "", "", kSay, "-c writes the cache while it learns"},
    {"weight_quantization", 0, "", "", kSay,
     "`leveret export -i MODEL -o FILE --bits 16` makes such weights"},
    {"convert_inference_regressor", 0, "FILE", "", kSay,
     "`leveret export -i MODEL -o {}` makes a model for predictions"},
};

/// What people type who know neither.
constexpr Word kOthers[] = {
    {"lr", 0, "X", "train", kSay,
     "`--optimizer linear=adagrad:rate={}` is the linear part's rate; FFM and layers have their "
     "own, "
     "rows= and layers="},
    {"epochs", 0, "N", "train", kSay, "`-c --passes {}` reads the input several times"},
    {"batch", 0, "N", "train", kSay, "`--batch_size {}` is the option"},
    {"rate", 0, "X", "train", kSay,
     "`--optimizer rows=adagrad:rate={}` is the FFM's rate; linear= and layers= have their own"},
    {"layers", 0, "N", "train", kSay, "`--hidden 64,32` has the width of each layer"},
    {"mlp", 0, "N,...", "train", kSay,
     "`--hidden 64,32` puts layers over the FFM, `--tower mlp:hidden=64+32` over embeddings"},
    {"range", 0, "W", "train", kSay, "`--row_bits 8:range={}` is the range of weights of 8 bits"},
    {"input", 0, "FILE", "export serve", kSay, "-i {} names the model"},
    {"input", 0, "FILE", "", kSay, "-d {} names the data"},
    {"target", 0, "NAME", "convert", kSay, "--label {} names the column of the label"},
    {"header", 0, "", "convert", kSay,
     "the first line is the header; --columns NAME,... names the columns where there is none"},
    {"quantize", 0, "", "export", kSay, "--bits 8 makes weights of 8 bits"},
    {"verbose", 0, "", "", kSay, "progress is always reported; --quiet turns it off"},
    {"output", 'o', "FILE", "train", kSay, "-f {} saves the model"},
    {"output", 'o', "FILE", "predict", kSay, "-p {} writes predictions"},
    {"output", 'o', "FILE", "", kSay, "results go to standard output: `>{}`"},
    {"model", 0, "NAME", "train", kSame, "a model of the literature; -i FILE reads a saved one"},
    {"model", 0, "FILE", "", kTaken, "-i {}"},
    {"help_all", 0, "", "", kSame, "all options of the verb"},
};

constexpr WordGroup kGroups[] = {
    {"Data", kInput},
    {"Features", kFeatures},
    {"Learning", kLearning},
    {"Testing and reports", kTesting},
    {"Models", kModels},
    {"Answers, servers, machines", kAnswers},
    {"Fwumious Wabbit's own", kFwumious},
    {"Other programs' words", kOthers},
};

/// With these all options of Vowpal Wabbit have an answer.
constexpr WordFamily kFamilies[] = {
    {"labels are clicks, -1 or 1: classes and other losses are not supported",
     "oaa oaa_subsample scores indexing probabilities named_labels multilabel_oaa ect "
     "error log_multi no_progress swap_resistance binary csoaa csoaa_ldf csoaa_rank "
     "cs_absolute_loss ldf_override wap_ldf ot plt kary_tree threshold top_k "
     "plt_force_load_legacy_model recall_tree bern_hyper max_candidates max_depth "
     "node_only randomized_routing memory_tree max_number_of_labels "
     "leaf_example_multiplier dream_at_update dream_repeats learn_at_leaf oas online top_K "
     "emt emt_initial emt_leaf emt_router emt_scorer emt_tree quantile_tau expectile_q "
     "logistic_min logistic_max top dont_output_best_constant"},
    {"bandits are not supported: --context scores the candidates of a request",
     "cb cb_adf cb_type cb_force_legacy cb_to_cbadf cb_explore cb_explore_adf "
     "cb_explore_pdf cb_sample cb_discrete cb_dro cb_dro_alpha cb_dro_tau cb_dro_wmax "
     "cb_min_cost cb_max_cost cbify cbify_cs cbify_ldf cbify_reg cbzo ccb_explore_adf "
     "ccb_no_slot_index all_slots_loss slates clip_p rank_all no_predict eval bag cover "
     "psi nounif first first_only epsilon greedify softmax lambda squarecb elim "
     "gamma_scale gamma_exponent graph_feedback regcb regcbopt rnd rnd_alpha rnd_invlambda "
     "synthcover synthcoverpsi synthcoversize large_action_space las_hint_explicit_simd "
     "max_actions block_size action_cache_slack spanner_c thread_pool_size two_pass_svd "
     "cats cats_pdf cats_tree tree_bandwidth bandwidth min_value max_value pmf_to_pdf "
     "get_pmf sample_pdf loss0 loss1 loss_01_ratio loss_option loss_report flip_loss_sign "
     "policy radius baseline baseline_challenger_cb cb_c_alpha cb_c_tau check_enabled "
     "global_only lr_multiplier warm_cb warm_cb_cs warm_start warm_start_update "
     "interaction_update choices_lambda lambda_scheme corrupt_prob_warm_start "
     "corrupt_type_warm_start overwrite_label sim_bandit automl automl_significance_level "
     "csv_trace debug_reversed_learn default_lease fixed_significance_level "
     "interaction_type oracle_type priority_challengers priority_type verbose_metrics "
     "opt_func reward_as_cost tol_x epsilon_decay epsilon_decay_audit "
     "epsilon_decay_significance_level bonferroni_denominator challenger_epsilon "
     "constant_epsilon initial_epsilon min_champ_examples min_scope model_count "
     "shift_model_bounds explore_eval multiplier target_rate experimental_igl "
     "multiworld_test learn exclude_eval per_model_save_load"},
    {"sequences, trees and graphs are not supported",
     "search search_active_verify search_allowed_transitions search_alpha search_beta "
     "search_condition_feature_value search_graph_directed search_graph_no_structure "
     "search_graph_num_loops search_graph_separate_learners search_history_length "
     "search_interpolation search_kbest search_linear_ordering "
     "search_max_bias_ngram_length search_max_branch search_max_quad_ngram_length "
     "search_metatask search_neighbor_features search_no_caching search_order "
     "search_passes_per_policy search_perturb_oracle search_rollin search_rollout "
     "search_rollout_num_steps search_save_every_k_runs search_span_bilou "
     "search_span_multipass search_subsample_time search_task search_total_nb_policies "
     "search_trained_nb_policies search_use_passthrough_repr search_xv cost cost_to_go "
     "num_label old_style_labels one_learner root_label transition_system constraints "
     "entity_cost relation_cost relation_none_cost skip_cost max negative_weight"},
    {"active learning is not supported: all lines with a label are learned",
     "active active_cover cs_active csa_debug simulation direct mellowness alpha "
     "beta_scale oracular cost_max cost_min domination max_labels min_labels range_c "
     "para_active pool_greedy pool_size reprocess subsample"},
    {"topic models are not supported", "lda lda_D lda_alpha lda_epsilon lda_rho math_mode"},
    {"--optimizer is adagrad, sgd, ftrl or adam; learning is online, or in batches (--batch_size "
     "N)",
     "OjaNewton alpha_inverse epoch_size learning_rate_cnt normalize random_init "
     "sketch_size hessian_on mem termination stage_size fepsilon flipschitz_const project "
     "restart l1_state l2_state"},
    {"a model is linear weights, --interactions, factorization machines (--ffm_k, --tower fm) and "
     "layers (--hidden)",
     "stage_poly batch_sz batch_sz_no_doubling sched_exponent ksvm kernel degree boosting "
     "alg gamma autolink interact bs_type confidence confidence_after_training compete "
     "decay initial_denominator initial_numerator unweighted_marginals update_before_learn "
     "noop print sendto"},
};

}  // namespace

std::span<const WordGroup> word_groups() { return kGroups; }
std::span<const WordFamily> word_families() { return kFamilies; }

}  // namespace leveret::cli
