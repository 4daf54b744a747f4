use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use zenoh::query::{ConsolidationMode, Query, QueryTarget, Queryable};
use zenoh::{Session, Wait};

use super::attachment::Attachment;
use crate::bus::{CallError, Handler, REQUESTS_AT_A_TIME, REQUESTS_WAITING};

/// An end without a reply this soon means that nobody was asked.
const NOBODY_WITHIN: Duration = Duration::from_millis(500);

/// Answers requests until the answer is dropped; requests that are worked on then are finished. `stop` ends those too.
pub(super) async fn serve(
    session: &Session,
    key: String,
    handler: Handler,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) -> zenoh::Result<(Queryable<()>, DropGuard)> {
    let (sender, requests) = mpsc::channel::<Query>(REQUESTS_WAITING);
    let queryable = session
        .declare_queryable(key.clone())
        .complete(true)
        .callback(move |query| {
            if let Err(TrySendError::Full(query) | TrySendError::Closed(query)) = sender.try_send(query) {
                tracing::warn!(service = key, "request refused, too many are waiting");
                drop(query.reply_err("too many requests are waiting; try again").wait());
            }
        })
        .await?;
    let served = stop.child_token();
    tasks.spawn(work(requests, handler, tasks.clone(), served.clone(), stop.clone()));
    Ok((queryable, served.drop_guard()))
}

async fn work(
    mut requests: mpsc::Receiver<Query>,
    handler: Handler,
    tasks: TaskTracker,
    served: CancellationToken,
    stop: CancellationToken,
) {
    let turns = Arc::new(Semaphore::new(REQUESTS_AT_A_TIME));
    loop {
        let next = async {
            let turn = turns.clone().acquire_owned().await.expect("the semaphore is never closed");
            requests.recv().await.map(|query| (turn, query))
        };
        let Some(Some((turn, query))) = served.run_until_cancelled(next).await else { return };
        let answer = handler(query.payload().map(|payload| payload.to_bytes().into_owned()).unwrap_or_default());
        let stop = stop.clone();
        tasks.spawn(async move {
            stop.run_until_cancelled(async { reply(&query, answer.await).await }).await;
            drop(turn);
        });
    }
}

async fn reply(query: &Query, answer: Result<Vec<u8>, String>) {
    let sent = match answer {
        Ok(response) => {
            let reply = query.reply(query.key_expr().clone(), response);
            // The counter and the id tell the caller which of its requests this answers.
            match query.attachment().and_then(Attachment::read) {
                Some(asked) => reply.attachment(Attachment::now(asked.seq, asked.gid).to_bytes()).await,
                None => reply.await,
            }
        }
        Err(reason) => query.reply_err(reason).await,
    };
    if let Err(error) = sent {
        tracing::debug!(service = query.key_expr().as_str(), %error, "response not sent");
    }
}

/// Calls a service once. The session's own time-out is set behind `deadline`, so that a slow service is not cut off by it.
pub(super) async fn call(
    session: &Session,
    key: String,
    request: Vec<u8>,
    attachment: Attachment,
    deadline: Duration,
) -> Result<Vec<u8>, CallError> {
    let started = Instant::now();
    let replies = session
        .get(key)
        .target(QueryTarget::AllComplete)
        .consolidation(ConsolidationMode::None)
        .timeout(deadline + Duration::from_secs(5))
        .payload(request)
        .attachment(attachment.to_bytes())
        .await
        .map_err(|error| CallError::Failed { reason: error.to_string() })?;
    let Ok(reply) = tokio::time::timeout(deadline, replies.recv_async()).await else {
        return Err(CallError::TimedOut { waited: deadline });
    };
    let Ok(reply) = reply else {
        let waited = started.elapsed();
        // Whoever was asked and went away may have done it: that is not "nobody".
        return Err(if waited < NOBODY_WITHIN { CallError::Unavailable } else { CallError::TimedOut { waited } });
    };
    match reply.into_result() {
        Ok(sample) => Ok(sample.payload().to_bytes().into_owned()),
        Err(error) => {
            Err(CallError::Failed { reason: String::from_utf8_lossy(&error.payload().to_bytes()).into_owned() })
        }
    }
}
