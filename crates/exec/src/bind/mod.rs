//! Binding: from the parsed statement to the bound tree. Every name becomes an object, every expression gets its PostgreSQL type, every
//! operator and function is resolved, literals of unknown type take their type from the context (compare `parser/analyze.c`).

pub mod coerce;
mod columns;
mod cte;
mod dml;
mod explain;
mod expr;
mod from;
mod func;
mod group;
mod indirection;
mod inline;
mod names;
mod operator;
pub mod overload;
mod params;
pub mod polymorphic;
mod relation;
pub mod rules;
mod scope;
mod select;
mod setop;
mod sublink;
mod target;
#[cfg(test)]
mod tests;
pub mod type_info;
pub mod types;
mod visit;
mod window;

use crate::bound::{QueryColumn, Statement};
use crate::environment::Environment;
use crate::parse::ParsedStatement;
use crate::parse::ast::{Ast, Dml};
use catalog::{DatabaseObjects, Oid, Result, SqlError, Style};
use coerce::Coercion;
use params::Parameters;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

pub use relation::relation_name_of_system;
pub use scope::Clause;

/// What is known of a parameter before binding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParameterType {
    /// Declared by the client, or a lifted literal of a known type.
    Fixed(Oid),
    /// To be inferred from its first use; 42P18 if that does not tell.
    Infer,
    /// A lifted literal of type unknown: inferred as such a literal is; text if nothing tells.
    Lifted,
}

/// What binding needs.
#[derive(Clone, Copy)]
pub struct BindContext<'a> {
    /// The session.
    pub env: &'a dyn Environment,
    /// How literals are read.
    pub style: &'a Style,
    /// Parameters known so far.
    pub parameters: &'a [ParameterType],
    /// Whether further parameters may appear (Parse); else 42P02.
    pub more_parameters: bool,
    /// Evaluate immutable calls of constants at once. Off where the tree is to be printed.
    pub fold: bool,
}

impl<'a> BindContext<'a> {
    /// A context without parameters.
    pub fn plain(env: &'a dyn Environment, style: &'a Style) -> Self {
        BindContext { env, style, parameters: &[], more_parameters: false, fold: true }
    }
}

/// A statement bound.
#[derive(Clone, Debug)]
pub struct Bound {
    /// What it means.
    pub statement: Statement,
    /// Types of all parameters, inferred ones too.
    pub parameter_types: Vec<Oid>,
    /// Output columns; `None` if it returns no rows.
    pub columns: Option<Vec<QueryColumn>>,
    /// Relations of users that it reads (views and what they read, sequences too).
    pub relations: Vec<Oid>,
    /// Relations that it writes to.
    pub written: Vec<Oid>,
    /// Whether an unqualified relation name was looked up, so that the meaning hangs on search_path.
    pub uses_search_path: bool,
}

/// Binds a statement. Utility statements pass through as they are: their names are looked up when they run.
pub fn bind(parsed: &ParsedStatement, cx: &BindContext<'_>) -> Result<Bound> {
    let binder = Binder::new(cx);
    let (statement, columns) = binder.statement(&parsed.ast)?;
    binder.finish(statement, columns)
}

/// Binds a query or DML statement that stands inside another text, `offset` characters from its start.
pub fn bind_text(text: &str, offset: u32, cx: &BindContext<'_>) -> Result<Bound> {
    let shift = |error: SqlError| shifted(error, offset);
    let mut statements = crate::parse::parse(text).map_err(shift)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => bind(&statement, cx).map_err(shift),
        _ => Err(SqlError::syntax_near(";")),
    }
}

/// An error whose position counts from the start of the whole text.
pub fn shifted(mut error: SqlError, offset: u32) -> SqlError {
    let fields = error.fields_mut();
    fields.position = fields.position.map(|p| p + offset);
    error
}

/// The state of one binding.
pub(crate) struct Binder<'a> {
    pub(crate) cx: &'a BindContext<'a>,
    pub(crate) objects: Arc<DatabaseObjects>,
    /// Schemas in which unqualified names are looked up.
    pub(crate) path: Vec<Oid>,
    pub(crate) parameters: Parameters<'a>,
    read: RefCell<Vec<Oid>>,
    written: RefCell<Vec<Oid>>,
    used_path: Cell<bool>,
    /// Names of WITH queries that come later than the one being bound, for a hint.
    later_ctes: RefCell<Vec<String>>,
    /// Views being expanded around the current point.
    views: RefCell<Vec<Oid>>,
}

impl<'a> Binder<'a> {
    pub(crate) fn new(cx: &'a BindContext<'a>) -> Self {
        Binder {
            cx,
            objects: cx.env.objects(),
            path: cx.env.search_path(true),
            parameters: Parameters::new(cx.parameters, cx.more_parameters),
            read: RefCell::default(),
            written: RefCell::default(),
            used_path: Cell::new(false),
            later_ctes: RefCell::default(),
            views: RefCell::default(),
        }
    }

    pub(crate) fn coercion(&self) -> Coercion<'_> {
        Coercion {
            style: self.cx.style,
            env: self.cx.env,
            parameters: &self.parameters,
            folding: self.cx.fold,
        }
    }

    pub(crate) fn reads(&self, relation: Oid) {
        let mut read = self.read.borrow_mut();
        if !read.contains(&relation) {
            read.push(relation);
        }
    }

    pub(crate) fn writes(&self, relation: Oid) {
        let mut written = self.written.borrow_mut();
        if !written.contains(&relation) {
            written.push(relation);
        }
    }

    fn statement(&self, ast: &Ast) -> Result<(Statement, Option<Vec<QueryColumn>>)> {
        match ast {
            Ast::Dml(Dml::Query(query)) => {
                let query = self.query(query, None, true)?;
                let columns = query.columns.clone();
                Ok((Statement::Query(query), Some(columns)))
            }
            Ast::Dml(dml) => {
                let (dml, columns) = self.dml(dml, None)?;
                Ok((Statement::Dml(dml), columns))
            }
            Ast::Explain(explain) => self.explain(explain),
            Ast::Utility(utility) => Ok((Statement::Utility(utility.clone()), None)),
        }
    }

    fn finish(self, statement: Statement, columns: Option<Vec<QueryColumn>>) -> Result<Bound> {
        Ok(Bound {
            statement,
            parameter_types: self.parameters.finish()?,
            columns,
            relations: self.read.into_inner(),
            written: self.written.into_inner(),
            uses_search_path: self.used_path.get(),
        })
    }
}
