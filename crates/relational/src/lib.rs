//! The relational path: bound queries lowered to Apache DataFusion plans. The only crate that names DataFusion and arrow.
