//! DDL, run by `ddl` through the session's state.

use super::{Block, Session};
use crate::client::CommandTag;
use crate::ddl::{self, DdlContext};
use crate::utility::object::Ddl;
use crate::utility::table::CreateTableAs;
use catalog::Result;

impl Session {
    pub(super) fn run_ddl(&mut self, statement: &Ddl) -> Result<CommandTag> {
        self.prevent_read_only(command(statement))?;
        self.transaction.queried = true;
        self.state.adopt_catalog();
        self.state.transaction(|t| t.begin_statement())?;
        let cx = DdlContext { session: &*self.state, in_block: matches!(self.block, Block::InBlock) };
        let before = self.state.changes.lock().len();
        let result = ddl::execute(statement, &cx);
        if result.is_err() {
            self.state.truncate_changes(before);
        }
        self.end_statement(result)
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
