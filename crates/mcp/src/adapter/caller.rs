use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::shown::shown;
use crate::tool_server::Caller;

/// How much of a session's id tells it from the others; the whole would let its reader take the session over.
const SESSION_CHARS: usize = 8;

/// Who calls: the name the client gives itself, and the beginning of its session's id. Nobody proves a name; it is for
/// people and for telling callers apart.
pub(crate) fn of(context: &RequestContext<RoleServer>) -> Caller {
    // Since July 2026 each request says it; before, the session's first one did.
    let told = context.meta.client_info().map(|client| client.name);
    let told = told.or_else(|| context.peer.peer_info().map(|info| info.client_info.name.clone()));
    let client = told.map(|name| shown(&name));
    let session = context
        .extensions
        .get::<http::request::Parts>()
        .and_then(|parts| parts.headers.get("mcp-session-id"))
        .and_then(|id| id.to_str().ok())
        .map(|id| id.chars().take(SESSION_CHARS).collect::<String>());
    let name = match (client, session) {
        (Some(client), Some(session)) => format!("{client} ({session})"),
        (Some(client), None) => client,
        (None, Some(session)) => session,
        (None, None) => String::new(),
    };
    Caller { name, meta: context.meta.0.0.clone() }
}
