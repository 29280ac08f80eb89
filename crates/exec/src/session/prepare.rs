//! From text to a prepared statement: the cache, lifting, parsing, binding, planning.

use super::named::{self, NamedColumns};
use super::{Meaning, Prepared, ResultColumn, Script, ScriptStatement, Session, failed_block};
use crate::bind::{self, BindContext, Bound, ParameterType};
use crate::bound::{Dml, Explain, QueryColumn, SqlType, Statement};
use crate::cache::{Found, Key};
use crate::environment::Environment;
use crate::lift::{Literal, LiteralKind, unquote};
use crate::parse::ast::Ast;
use crate::parse::{self, ParsedStatement};
use crate::plan::dml::DmlPlan;
use crate::plan::node::Plan;
use crate::plan::{self, PlanContext};
use crate::session::Block;
use crate::settings::definition::LITERAL_LIFTING;
use crate::utility::Utility;
use catalog::types::{self, InputContext, oid};
use catalog::{Arena, DatabaseObjects, Oid, Result, Severity, SqlError, SqlState, Value};
use parking_lot::Mutex;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use storage::{RelationId, TableLockMode};

/// A prepared statement's inside: what it was made from, and its plan as of the last time that it was run.
pub(crate) struct PreparedInner {
    parsed: ParsedStatement,
    modes: Box<[ParameterType]>,
    more_parameters: bool,
    /// Types of lifted literals as bound, for turning the next statement's literals into values.
    planned: Mutex<Arc<Planned>>,
    runs: AtomicU32,
}

/// A plan, good for one state of the database's objects.
pub(crate) struct Planned {
    pub(super) objects: Arc<DatabaseObjects>,
    pub(super) body: Body,
    /// Relations to lock, with their modes.
    pub(super) locks: Box<[(Oid, TableLockMode)]>,
    /// Result columns that are shown by name.
    pub(super) named: NamedColumns,
    /// Rows of the tables when this was planned.
    cardinalities: Box<[(RelationId, u64)]>,
}

/// What runs.
pub(super) enum Body {
    /// A query.
    Query(Plan),
    /// INSERT, UPDATE, DELETE.
    Dml {
        /// The plan.
        plan: Arc<dyn DmlPlan>,
        /// Cache slots of an execution.
        cache_slots: usize,
        /// Nodes, for instrumentation.
        nodes: usize,
        /// `INSERT 0` and so on.
        verb: &'static str,
    },
    /// EXPLAIN.
    Explain(Box<Explain>, Box<Planned>),
    /// Everything else.
    Utility(Box<Utility>),
}

impl Planned {
    /// Whether running it writes.
    pub(super) fn writes(&self) -> Option<&'static str> {
        match &self.body {
            Body::Dml { verb, .. } => Some(verb.trim_end_matches(" 0")),
            Body::Explain(explain, planned) if explain.options.analyze => planned.writes(),
            Body::Query(_) | Body::Explain(..) | Body::Utility(_) => None,
        }
    }
}

/// A script statement's inside.
pub(crate) enum ScriptInner {
    /// Found in the cache, with its literals' values.
    Ready(Arc<Prepared>, Vec<Value>),
    /// To be bound.
    Parsed(Box<ToBind>),
}

/// A parsed statement on its way to a plan.
pub(crate) struct ToBind {
    parsed: ParsedStatement,
    source: Arc<str>,
    /// The lifted form, if lifting is to be tried: text, literal kinds, literals.
    lifted: Option<(String, Vec<u8>, Vec<Literal>)>,
    /// Whether the plan may be kept in the cache under the text as sent.
    cacheable: bool,
}

/// After so many runs a plan's idea of the tables' sizes is looked at again.
const CARDINALITY_CHECK_RUNS: u32 = 32;

impl Session {
    /// Parses the text of a simple query; no statements for an empty one.
    pub fn parse_simple(&mut self, sql: &str) -> Result<Script> {
        let mut lifted = std::mem::take(&mut self.lifted);
        let lifting = self.meaning().lifting;
        let found = if lifting && lifted.read(sql) {
            let found = self.cached(&lifted.text, &lifted.kinds, &[]);
            match found {
                Some(Found::Prepared(prepared)) => {
                    match literal_values(&prepared, sql, &lifted.literals, self) {
                        Some(values) => {
                            self.lifted = lifted;
                            let inner = ScriptInner::Ready(prepared, values);
                            return Ok(Script { statements: vec![ScriptStatement { inner }] });
                        }
                        // A literal that is no value of its type: bound as written, the error has its position.
                        None => None,
                    }
                }
                Some(Found::NotLiftable) => None,
                None if lifted.literals.is_empty() => None,
                None => Some((lifted.text.clone(), lifted.kinds.clone(), lifted.literals.clone())),
            }
        } else {
            None
        };
        self.lifted = lifted;
        if found.is_none()
            && let Some(Found::Prepared(prepared)) = self.cached(sql, &[], &[])
        {
            let inner = ScriptInner::Ready(prepared, Vec::new());
            return Ok(Script { statements: vec![ScriptStatement { inner }] });
        }
        let parsed = parse::parse(sql)?;
        self.notice_truncated(sql, &parsed);
        let single = parsed.len() == 1;
        let source: Arc<str> = sql.into();
        let mut lifted = found.filter(|_| single);
        let statements = parsed
            .into_iter()
            .map(|parsed| ScriptStatement {
                inner: ScriptInner::Parsed(Box::new(ToBind {
                    parsed,
                    source: Arc::clone(&source),
                    lifted: lifted.take(),
                    cacheable: single,
                })),
            })
            .collect();
        Ok(Script { statements })
    }

    /// 42622 for each identifier that is too long (`truncate_identifier`).
    fn notice_truncated(&self, sql: &str, parsed: &[ParsedStatement]) {
        let tokens = parsed.iter().flat_map(|statement| &statement.tokens);
        for (written, kept) in tokens.filter_map(|token| token.truncated(sql)) {
            let message = format!("identifier \"{written}\" will be truncated to \"{kept}\"");
            let notice = SqlError::with_severity(Severity::Notice, SqlState::NAME_TOO_LONG, message);
            self.state.notices.lock().push(notice);
        }
    }

    /// Binds and plans one statement of a script. Begins an implicit transaction if none is open; 25P02 in a failed block.
    pub fn plan_simple(&mut self, statement: &ScriptStatement) -> Result<(Arc<Prepared>, Vec<Value>)> {
        let to_bind = match &statement.inner {
            ScriptInner::Ready(prepared, values) => {
                if self.block == Block::Failed && !prepared.ends_transaction {
                    return Err(failed_block());
                }
                return Ok((Arc::clone(prepared), values.clone()));
            }
            ScriptInner::Parsed(to_bind) => to_bind,
        };
        if self.block == Block::Failed && !ends_transaction(&to_bind.parsed) {
            return Err(failed_block());
        }
        self.ensure_transaction();
        if let Some((text, kinds, literals)) = &to_bind.lifted {
            if let Some((prepared, values)) = self.prepare_lifted(&to_bind.source, text, kinds, literals) {
                return Ok((prepared, values));
            }
            self.remember(text, kinds, &[], Found::NotLiftable);
        }
        let prepared =
            self.prepare_parsed(to_bind.parsed.clone(), Arc::clone(&to_bind.source), Box::new([]), false)?;
        if to_bind.cacheable && is_cacheable(&prepared) {
            self.remember(&to_bind.source, &[], &[], Found::Prepared(Arc::clone(&prepared)));
        }
        Ok((prepared, Vec::new()))
    }

    /// Parse: one statement (42601 for several); an empty text gives `None`. `types` are declared parameter types, zero = infer.
    pub fn prepare(&mut self, sql: &str, types: &[Oid]) -> Result<Option<Arc<Prepared>>> {
        if let Some(Found::Prepared(prepared)) = self.cached(sql, &[], types) {
            if self.block == Block::Failed && !prepared.ends_transaction {
                return Err(failed_block());
            }
            return Ok(Some(prepared));
        }
        let mut parsed = parse::parse(sql)?;
        self.notice_truncated(sql, &parsed);
        if parsed.len() > 1 {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "cannot insert multiple commands into a prepared statement",
            ));
        }
        let Some(parsed) = parsed.pop() else { return Ok(None) };
        if self.block == Block::Failed && !ends_transaction(&parsed) {
            return Err(failed_block());
        }
        self.ensure_transaction();
        if let Some(unknown) = types.iter().find(|t| t.is_valid() && !bind::type_info::is_known(**t)) {
            return Err(SqlError::internal(format!("cache lookup failed for type {unknown}")));
        }
        let modes = types
            .iter()
            .map(|t| if t.is_valid() { ParameterType::Fixed(*t) } else { ParameterType::Infer })
            .collect();
        let prepared = self.prepare_parsed(parsed, sql.into(), modes, true)?;
        if is_cacheable(&prepared) {
            self.remember(sql, &[], types, Found::Prepared(Arc::clone(&prepared)));
        }
        Ok(Some(prepared))
    }

    /// Prepares a statement with its literals lifted; `None` where that does not work, for whatever reason.
    fn prepare_lifted(
        &mut self,
        source: &str,
        text: &str,
        kinds: &[u8],
        literals: &[Literal],
    ) -> Option<(Arc<Prepared>, Vec<Value>)> {
        let parsed = parse::parse(text).ok()?.pop()?;
        let modes = literals
            .iter()
            .map(|literal| match literal.kind {
                LiteralKind::Int4 => ParameterType::Fixed(oid::INT4),
                LiteralKind::Int8 => ParameterType::Fixed(oid::INT8),
                LiteralKind::Numeric => ParameterType::Fixed(oid::NUMERIC),
                LiteralKind::Unknown => ParameterType::Lifted,
            })
            .collect();
        let prepared = self.prepare_parsed(parsed, text.into(), modes, false).ok()?;
        let values = literal_values(&prepared, source, literals, self)?;
        self.remember(text, kinds, &[], Found::Prepared(Arc::clone(&prepared)));
        Some((prepared, values))
    }

    /// Binds and plans a parsed statement.
    pub(super) fn prepare_parsed(
        &mut self,
        parsed: ParsedStatement,
        source: Arc<str>,
        modes: Box<[ParameterType]>,
        more_parameters: bool,
    ) -> Result<Arc<Prepared>> {
        self.state.adopt_catalog();
        let bound = self.bind(&parsed, &modes, more_parameters)?;
        let columns = match &bound.statement {
            Statement::Utility(utility) => self.utility_columns(utility)?,
            _ => bound.columns.as_deref().map(result_columns).transpose()?,
        };
        let parameter_types = bound.parameter_types.clone();
        let planned = self.plan(bound)?;
        let text = source.get(parsed.text.clone()).unwrap_or(&source);
        Ok(Arc::new(Prepared {
            text: text.into(),
            parameter_types,
            columns,
            description: OnceLock::new(),
            ends_transaction: ends_transaction(&parsed),
            inner: PreparedInner {
                parsed,
                modes,
                more_parameters,
                planned: Mutex::new(Arc::new(planned)),
                runs: AtomicU32::new(0),
            },
        }))
    }

    /// The statement's plan for the objects as they are now, made anew if they changed.
    pub(super) fn current_plan(&mut self, prepared: &Prepared) -> Result<Arc<Planned>> {
        let planned = Arc::clone(&prepared.inner.planned.lock());
        let runs = prepared.inner.runs.fetch_add(1, Ordering::Relaxed);
        let same = matches!(planned.body, Body::Utility(_))
            || Arc::ptr_eq(&planned.objects, &self.state.objects.lock());
        let fits = same && (runs % CARDINALITY_CHECK_RUNS != 1 || self.cardinalities_hold(&planned));
        if fits {
            return Ok(planned);
        }
        let inner = &prepared.inner;
        let bound = self.bind(&inner.parsed, &inner.modes, inner.more_parameters)?;
        let columns = bound.columns.as_deref().map(result_columns).transpose()?;
        if !same_shape(prepared.columns.as_deref(), columns.as_deref()) {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cached plan must not change result type",
            ));
        }
        let planned = Arc::new(self.plan(bound)?);
        *prepared.inner.planned.lock() = Arc::clone(&planned);
        Ok(planned)
    }

    fn bind(
        &self,
        parsed: &ParsedStatement,
        modes: &[ParameterType],
        more_parameters: bool,
    ) -> Result<Bound> {
        let style = self.style();
        let cx =
            BindContext { env: &*self.state, style: &style, parameters: modes, more_parameters, fold: true };
        bind::bind(parsed, &cx)
    }

    fn plan(&self, bound: Bound) -> Result<Planned> {
        let objects = self.state.objects();
        let named = NamedColumns::of(bound.columns.as_deref());
        let body = self.plan_statement(bound.statement, &objects)?;
        let written = bound.written.iter().map(|oid| (*oid, TableLockMode::RowExclusive));
        let read = bound.relations.iter().map(|oid| (*oid, TableLockMode::AccessShare));
        let locks: Box<[_]> = written.chain(read).collect();
        let tables = locks.iter().filter_map(|(oid, _)| objects.table(*oid));
        let cardinalities = tables
            .map(|table| {
                let relation = RelationId(table.relation);
                (relation, self.engine.store.statistics(relation).rows)
            })
            .collect();
        Ok(Planned { objects, body, locks, named, cardinalities })
    }

    fn plan_statement(&self, statement: Statement, objects: &Arc<DatabaseObjects>) -> Result<Body> {
        let cx = PlanContext {
            objects,
            store: &self.engine.store,
            env: &*self.state,
            relational: self.engine.relational.get().map(|r| &**r),
            dml: &crate::dml::Dmls,
        };
        Ok(match statement {
            Statement::Query(query) => Body::Query(plan::plan_query(&query, &cx)?),
            Statement::Dml(dml) => {
                let verb = match &dml {
                    Dml::Insert(_) => "INSERT 0",
                    Dml::Update(_) => "UPDATE",
                    Dml::Delete(_) => "DELETE",
                };
                let (plan, cache_slots, nodes) = crate::dml::plan_dml(&dml, &cx)?;
                Body::Dml { plan, cache_slots, nodes, verb }
            }
            Statement::Explain(explain) => {
                let Explain { options, statement } = *explain;
                let body = self.plan_statement(statement.clone(), objects)?;
                let inner = Planned {
                    objects: Arc::clone(objects),
                    body,
                    locks: Box::new([]),
                    named: NamedColumns::default(),
                    cardinalities: Box::new([]),
                };
                Body::Explain(Box::new(Explain { options, statement }), Box::new(inner))
            }
            Statement::Utility(utility) => Body::Utility(utility),
        })
    }

    /// Whether the tables still have about as many rows as when the plan was made.
    fn cardinalities_hold(&self, planned: &Planned) -> bool {
        planned.cardinalities.iter().all(|(relation, then)| {
            let now = self.engine.store.statistics(*relation).rows;
            let (low, high) = (now.min(*then), now.max(*then));
            high < 4 * low + 400
        })
    }

    fn cached(&mut self, text: &str, kinds: &[u8], types: &[Oid]) -> Option<Found> {
        let settings = self.meaning().fingerprint;
        let found =
            self.engine.cache.get(&Key { text, kinds, types, database: self.state.database, settings })?;
        if let Found::Prepared(prepared) = &found {
            // A statement that is prepared now means the objects of now. (One that a client holds may only change its plan.)
            self.state.adopt_catalog();
            if !Arc::ptr_eq(&prepared.inner.planned.lock().objects, &self.state.objects.lock()) {
                return None;
            }
        }
        Some(found)
    }

    fn remember(&mut self, text: &str, kinds: &[u8], types: &[Oid], found: Found) {
        let settings = self.meaning().fingerprint;
        self.engine.cache.put(&Key { text, kinds, types, database: self.state.database, settings }, found);
    }

    /// What the role and the settings do to the meaning of a text.
    fn meaning(&mut self) -> &Meaning {
        let settings = self.state.settings.lock();
        let version = settings.generation();
        if self.meaning.version != version {
            let mut hasher = rustc_hash::FxHasher::default();
            // Literals are read when a statement is bound, by these styles.
            let style = settings.style();
            settings.search_path().hash(&mut hasher);
            style.time_zone_name.hash(&mut hasher);
            let styles = (style.date_style as u8, style.date_order as u8, style.interval_style as u8);
            styles.hash(&mut hasher);
            self.state.current_role.load(Ordering::Relaxed).hash(&mut hasher);
            let lifting = settings.is_on(LITERAL_LIFTING);
            self.meaning = Meaning { fingerprint: hasher.finish(), version, lifting };
        }
        &self.meaning
    }
}

/// Utility statements are cheap to parse and have no plan; what is kept is queries and DML. Literals that mean the present are read
/// when a statement is bound, so such a statement is bound each time.
fn is_cacheable(prepared: &Prepared) -> bool {
    let text = prepared.text.as_bytes();
    let present = |word: &[u8]| text.windows(word.len()).any(|w| w.eq_ignore_ascii_case(word));
    let quoted = memchr::memchr(b'\'', text).is_some();
    if quoted && [&b"'now"[..], b"'today", b"'tomorrow", b"'yesterday"].iter().any(|word| present(word)) {
        return false;
    }
    matches!(prepared.inner.planned.lock().body, Body::Query(_) | Body::Dml { .. })
}

fn ends_transaction(parsed: &ParsedStatement) -> bool {
    matches!(&parsed.ast, Ast::Utility(utility) if utility.ends_transaction())
}

/// The values of a statement's literals, by the types that binding gave them; `None` if one is no value of its type.
fn literal_values(
    prepared: &Prepared,
    sql: &str,
    literals: &[Literal],
    session: &Session,
) -> Option<Vec<Value>> {
    if prepared.parameter_types.len() != literals.len() {
        return None;
    }
    let mut values = Vec::with_capacity(literals.len());
    for (literal, typ) in literals.iter().zip(&prepared.parameter_types) {
        let text = sql.get(literal.start..literal.end)?;
        values.push(match (literal.kind, *typ) {
            (LiteralKind::Int4 | LiteralKind::Int8, oid::INT4 | oid::INT8 | oid::INT2 | oid::OID) => {
                Value::Int(text.parse().ok()?)
            }
            (LiteralKind::Unknown, oid::TEXT | oid::VARCHAR | oid::UNKNOWN) => {
                let text = unquote(text);
                if text.contains('\0') {
                    return None;
                }
                Value::text(&text)
            }
            (kind, typ) => {
                let text = if kind == LiteralKind::Unknown { unquote(text) } else { text.into() };
                let typ = types::by_oid(typ)?;
                let arena = Arena::new();
                let style = session.style();
                let cx = InputContext {
                    arena: &arena,
                    style: &style,
                    typ,
                    typmod: -1,
                    now: session.state.transaction_timestamp(),
                };
                (typ.input)(&text, &cx).ok()?.to_value()
            }
        });
    }
    Some(values)
}

/// RowDescription's columns.
pub(super) fn result_columns(columns: &[QueryColumn]) -> Result<Vec<ResultColumn>> {
    columns
        .iter()
        .map(|column| {
            // A literal that nothing gave a type is text to the client.
            let typ = if column.typ.oid == oid::UNKNOWN { SqlType::plain(oid::TEXT) } else { column.typ };
            let functions = types::by_oid(typ.oid)
                .ok_or_else(|| SqlError::unsupported(format_args!("type with OID {}", typ.oid)))?;
            let (table, attnum) = column.origin.unwrap_or_default();
            Ok(ResultColumn {
                name: column.name.clone(),
                typ,
                functions: named::writer(functions),
                table,
                attnum,
            })
        })
        .collect()
}

fn same_shape(before: Option<&[ResultColumn]>, now: Option<&[ResultColumn]>) -> bool {
    match (before, now) {
        (None, None) => true,
        (Some(before), Some(now)) => {
            before.len() == now.len()
                && before.iter().zip(now).all(|(a, b)| a.name == b.name && a.typ == b.typ)
        }
        _ => false,
    }
}
