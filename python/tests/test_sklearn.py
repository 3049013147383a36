"""What scikit-learn asks of its estimators, and frames of pandas. Run where both are installed."""

import unittest

import numpy as np

import leveret

try:
    import pandas
    import sklearn.utils.estimator_checks as checks
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
except ImportError:
    raise unittest.SkipTest("scikit-learn or pandas is not installed") from None

from test_classifier import made


class SklearnTest(unittest.TestCase):
    def test_estimator(self):
        checks.check_estimator(leveret.LeveretClassifier())

    def test_frame(self):
        frame, clicks = made(500)
        as_pandas = pandas.DataFrame({name: frame[name] for name in frame.columns})
        ours = leveret.LeveretClassifier("--ffm_k 2").fit(frame, clicks)
        theirs = clone(ours).fit(as_pandas, pandas.Series(clicks))
        np.testing.assert_array_equal(ours.predict_proba(frame), theirs.predict_proba(as_pandas))
        self.assertEqual(list(theirs.feature_names_in_), frame.columns)
        # Categories, and what pandas has for nothing.
        other = as_pandas.assign(user=as_pandas["user"].astype("category"))
        other["the ad"] = other["the ad"].astype("string").replace("", pandas.NA)
        np.testing.assert_array_equal(theirs.predict_proba(other), theirs.predict_proba(as_pandas))

    def test_in_others(self):
        frame, clicks = made(600)
        as_pandas = pandas.DataFrame({name: frame[name] for name in frame.columns})
        pipeline = make_pipeline(leveret.LeveretClassifier("--ffm_k 2"))
        scores = cross_val_score(pipeline, as_pandas, clicks, cv=3, scoring="roc_auc")
        self.assertEqual(len(scores), 3)
        self.assertGreater(scores.mean(), 0.6)


if __name__ == "__main__":
    unittest.main()
