//! DDL, run by `ddl` through the session's state.

use super::prepare::Body;
use super::{Block, Session};
use crate::bound::{QueryColumn, TableRules};
use crate::client::CommandTag;
use crate::ddl::{self, DdlContext};
use crate::dml::{Arbiters, Scratch, TableWriter};
use crate::utility::object::Ddl;
use crate::utility::table::CreateTableAs;
use catalog::{Arena, Datum, Result, SqlError};
use std::ops::ControlFlow;

impl Session {
    /// What DDL works with.
    pub(super) fn ddl_context(&self) -> DdlContext<'_> {
        DdlContext { session: &*self.state, in_block: matches!(self.block, Block::InBlock) }
    }

    pub(super) fn run_ddl(&mut self, statement: &Ddl) -> Result<CommandTag> {
        self.prevent_read_only(command(statement))?;
        self.transaction.queried = true;
        self.state.adopt_catalog();
        self.state.transaction(|t| t.begin_statement())?;
        let cx = self.ddl_context();
        let before = self.state.changes.lock().len();
        let result = ddl::execute(statement, &cx);
        if result.is_err() {
            self.state.truncate_changes(before);
        }
        self.end_statement(result)
    }

    /// CREATE TABLE AS: the table is made from the query's columns, then its rows are written.
    pub(super) fn create_table_as(&mut self, create: &CreateTableAs) -> Result<CommandTag> {
        self.prevent_read_only("CREATE TABLE AS")?;
        self.transaction.queried = true;
        let source = &create.query;
        let parsed = crate::parse::parse(&source.text)
            .map_err(|error| crate::bind::shifted(error, source.offset))?
            .pop()
            .ok_or_else(|| SqlError::syntax_near(""))?;
        let prepared = self
            .prepare_parsed(parsed, source.text.as_str().into(), Box::new([]), false)
            .map_err(|error| crate::bind::shifted(error, source.offset))?;
        let columns: Vec<QueryColumn> = prepared
            .columns
            .iter()
            .flatten()
            .map(|c| QueryColumn { name: c.name.clone(), typ: c.typ, origin: None })
            .collect();
        let planned = self.current_plan(&prepared)?;
        self.lock_tables(&planned.locks)?;
        let Body::Query(plan) = &planned.body else {
            return Err(SqlError::unsupported("CREATE TABLE AS of this statement"));
        };
        let view = self.state.transaction(|t| {
            t.begin_statement();
            t.view()
        })?;
        let cx = self.ddl_context();
        let before = self.state.changes.lock().len();
        let result = ddl::create_table_as(&cx, create, &columns).and_then(|table| {
            let Some(table) = table.filter(|_| create.with_data) else { return Ok(None) };
            let rules = TableRules {
                table,
                indexes: Vec::new(),
                checks: Vec::new(),
                generated: Vec::new(),
                foreign_keys: Vec::new(),
                referencing: Vec::new(),
            };
            let writer = TableWriter::new(&rules, "")?;
            let mut scratch = Scratch::default();
            let mut count = 0;
            let _flow = self.with_context(plan.cache_slots, &view, &[], None, |cx, _| {
                let mut arena = Arena::new();
                crate::row::run(&plan.root, cx, &mut |row_cx, row: &[Datum<'_>]| {
                    arena.reset();
                    let cx = row_cx.with_arena(&arena);
                    self.state
                        .transaction(|t| writer.insert(&cx, t, row, Arbiters::None, &mut scratch))??;
                    count += 1;
                    Ok(ControlFlow::Continue(()))
                })
            })?;
            Ok(Some(count))
        });
        drop(view);
        if result.is_err() {
            self.state.truncate_changes(before);
        }
        Ok(match self.end_statement(result)? {
            Some(count) => CommandTag::counted("SELECT", count),
            None => CommandTag::plain("CREATE TABLE AS"),
        })
    }
}

/// The command's name in 25006.
fn command(statement: &Ddl) -> &'static str {
    match statement {
        Ddl::CreateTable(_) => "CREATE TABLE",
        Ddl::CreateIndex(_) => "CREATE INDEX",
        Ddl::CreateView(_) => "CREATE VIEW",
        Ddl::CreateSequence { .. } => "CREATE SEQUENCE",
        Ddl::CreateSchema { .. } => "CREATE SCHEMA",
        Ddl::DropRelations { .. } => "DROP TABLE",
        Ddl::AlterRelation(..) => "ALTER TABLE",
        Ddl::Truncate(..) => "TRUNCATE TABLE",
        Ddl::Comment(..) => "COMMENT",
        _ => "DDL",
    }
}
