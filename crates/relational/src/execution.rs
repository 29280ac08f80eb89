//! One execution of a plan, as its scans and expressions on other threads see it.

use crate::environment::Detached;
use catalog::{DatabaseObjects, Datum, SqlError, SqlState, Style, Value};
use datafusion::common::DataFusionError;
use exec::row::context::{ExecContext, StatementContext};
use std::sync::Arc;
use storage::ReadView;

/// What an execution owns: copies of what the session's context lends.
pub struct Execution {
    params: Vec<Value>,
    view: ReadView,
    style: Style,
    objects: Arc<DatabaseObjects>,
    environment: Detached,
}

impl std::fmt::Debug for Execution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Execution")
    }
}

impl Execution {
    /// The execution that a session's context is about.
    pub fn of(cx: &ExecContext<'_>) -> Arc<Execution> {
        let params = cx.params.iter().map(Datum::to_value).collect();
        Self::new(params, cx.statement.view.clone(), cx.eval.style.clone(), cx.statement.objects)
    }

    /// An execution with these parameters over a view.
    pub fn new(
        params: Vec<Value>,
        view: ReadView,
        style: Style,
        objects: &Arc<DatabaseObjects>,
    ) -> Arc<Execution> {
        let objects = Arc::clone(objects);
        Arc::new(Execution { params, view, style, environment: Detached(Arc::clone(&objects)), objects })
    }

    /// What the statement sees of the store.
    pub fn view(&self) -> &ReadView {
        &self.view
    }

    /// Calls `f` with a statement context of the calling thread's own.
    pub fn with_context<R>(&self, f: impl FnOnce(&StatementContext<'_>) -> R) -> R {
        let params: Vec<Datum<'_>> = self.params.iter().map(Value::datum).collect();
        f(&StatementContext::new(&params, &self.view, &self.style, &self.environment, &self.objects, 0))
    }
}

/// An SQL error on its way through DataFusion.
pub fn carried(error: SqlError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The SQL error of a DataFusion error: the one that it carries, or an internal one.
pub fn sql_error(error: DataFusionError) -> SqlError {
    match error.find_root() {
        DataFusionError::External(inner) => match inner.downcast_ref::<SqlError>() {
            Some(found) => found.clone(),
            None => SqlError::internal(inner.to_string()),
        },
        DataFusionError::ResourcesExhausted(message) => {
            SqlError::new(SqlState::OUT_OF_MEMORY, message.clone())
        }
        other => SqlError::internal(other.to_string()),
    }
}
