//! What a statement means and does: parse, bind, plan, cache, run.
