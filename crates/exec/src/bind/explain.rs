//! EXPLAIN (compare `ExplainQuery` in `explain.c`).

use super::Binder;
use crate::bound::{Explain, ExplainFormat, ExplainOptions, QueryColumn, SqlType, Statement};
use crate::parse::ast;
use catalog::types::oid;
use catalog::{Result, SqlError, SqlState};

impl Binder<'_> {
    pub(super) fn explain(&self, explain: &ast::Explain) -> Result<(Statement, Option<Vec<QueryColumn>>)> {
        let options = options(&explain.options)?;
        let (statement, _) = self.statement(&explain.statement)?;
        let typ = match options.format {
            ExplainFormat::Text | ExplainFormat::Yaml => oid::TEXT,
            ExplainFormat::Json => oid::JSON,
            ExplainFormat::Xml => oid::XML,
        };
        let column = QueryColumn { name: "QUERY PLAN".into(), typ: SqlType::plain(typ), origin: None };
        Ok((Statement::Explain(Box::new(Explain { options, statement })), Some(vec![column])))
    }
}

fn options(list: &[(String, Option<String>, u32)]) -> Result<ExplainOptions> {
    let mut options = ExplainOptions { costs: true, ..ExplainOptions::default() };
    let (mut timing, mut summary) = (None, None);
    for (name, value, position) in list {
        match name.as_str() {
            "analyze" | "analyse" => options.analyze = boolean(name, value.as_deref())?,
            "verbose" => options.verbose = boolean(name, value.as_deref())?,
            "costs" => options.costs = boolean(name, value.as_deref())?,
            "buffers" => options.buffers = boolean(name, value.as_deref())?,
            "wal" => options.wal = boolean(name, value.as_deref())?,
            "settings" => options.settings = boolean(name, value.as_deref())?,
            "timing" => timing = Some(boolean(name, value.as_deref())?),
            "summary" => summary = Some(boolean(name, value.as_deref())?),
            "format" => {
                options.format = match value.as_deref() {
                    Some("text") => ExplainFormat::Text,
                    Some("json") => ExplainFormat::Json,
                    Some("yaml") => ExplainFormat::Yaml,
                    Some("xml") => return Err(SqlError::unsupported("EXPLAIN (FORMAT XML)").at(*position)),
                    Some(other) => {
                        let message =
                            format!("unrecognized value for EXPLAIN option \"format\": \"{other}\"");
                        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).at(*position));
                    }
                    None => {
                        return Err(SqlError::new(SqlState::SYNTAX_ERROR, "format requires a parameter"));
                    }
                };
            }
            other => {
                let message = format!("unrecognized EXPLAIN option \"{other}\"");
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(*position));
            }
        }
    }
    let needs_analyze = |what: &str| {
        let message = format!("EXPLAIN option {what} requires ANALYZE");
        Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message))
    };
    if options.wal && !options.analyze {
        return needs_analyze("WAL");
    }
    if timing == Some(true) && !options.analyze {
        return needs_analyze("TIMING");
    }
    options.timing = timing.unwrap_or(options.analyze);
    options.summary = summary.unwrap_or(options.analyze);
    Ok(options)
}

/// `defGetBoolean`
fn boolean(name: &str, value: Option<&str>) -> Result<bool> {
    match value {
        None | Some("true" | "on" | "1") => Ok(true),
        Some("false" | "off" | "0") => Ok(false),
        Some(_) => Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("{name} requires a Boolean value"))),
    }
}
