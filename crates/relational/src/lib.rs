//! The relational path: bound queries lowered to Apache DataFusion plans. The only crate that names DataFusion and arrow.
//!
//! [`lower`] makes a [`tree`] of relational operators of a bound query, once per statement, with every expression compiled by exec.
//! An execution assembles the tree to a DataFusion physical plan ([`tree::Tree::assemble`], some ten microseconds) whose scans and
//! expressions read the execution's view and parameters, and runs it ([`plan`]). No logical plan is made: what DataFusion's logical
//! optimizer does for queries like these (conditions at the scans, unused columns left out, join sides) is done while lowering, and
//! planning stays as cheap as the row path's.
//!
//! Expressions are exec's own, evaluated over arrow columns, except where arrow's kernels are known to mean the same: so the two
//! paths cannot disagree.

mod aggregate;
mod column;
mod environment;
mod execution;
mod expression;
mod lower;
mod plan;
mod scan;
mod tree;

pub use plan::{DataFusion, Options};
