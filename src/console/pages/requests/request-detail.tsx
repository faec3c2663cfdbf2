import type { RequestRow } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import { NONE, count, dateTime, duration, money } from '../../logic/format.ts';
import { conversationOf } from '../../logic/request-filter.ts';
import { toRequestsOf } from '../../logic/requests-view.ts';
import { toCurl } from '../../logic/to-curl.ts';
import { useLoad } from '../../parts/load.ts';
import { Copy, Problem } from '../../parts/parts.tsx';
import { WaterfallChart } from '../../parts/waterfall.tsx';
import { Status } from './columns.tsx';

/** All about one request. What the list knows is shown at once. */
export function RequestDetail({
  id,
  row: listed,
  onClose,
}: {
  id: string;
  row: RequestRow | undefined;
  onClose(): void;
}) {
  const { api, apiOrigin, isAdmin, now } = useConsole();
  const path = isAdmin() ? '/admin/v1/requests' : '/v1/account/executions';
  const { value, error } = useLoad(
    (signal) => api.json<RequestRow>(`${path}/${encodeURIComponent(id)}`, { signal }),
    [id, listed?.result],
  );
  const row = value.value ?? listed;
  return (
    <aside class="detail" aria-label={`Request ${id}`}>
      <div class="title">
        <code class="cut grow">{id}</code>
        <Copy text={id} label="Copy id" />
        {row && <Copy text={() => toCurl(row, apiOrigin())} label="Copy as curl" />}
        {row && (
          <a class="button small plain" href={`/console/playground?from=${id}`}>
            Ask again
          </a>
        )}
        <button type="button" class="button small plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      {error.value && !row && <Problem error={error.value} />}
      {row && (
        <>
          <Summary row={row} />
          {row.refused_by && (
            <section>
              <h3>Why it was refused</h3>
              <p>{row.refused_by.text}</p>
            </section>
          )}
          <section>
            <h3>Time</h3>
            <WaterfallChart row={row} now={row.result === 'pending' ? now.value : 0} />
          </section>
          {row.attempts && row.attempts.length > 0 && <Attempts row={row} />}
          <Money row={row} />
          {row.losses && (
            <section>
              <h3>Lost in translation</h3>
              {row.losses.length === 0 ? (
                <p class="dim">Nothing</p>
              ) : (
                <ul class="losses">
                  {row.losses.map((loss) => (
                    <li key={loss}>
                      <code>{loss}</code>
                    </li>
                  ))}
                </ul>
              )}
            </section>
          )}
          <Content row={row} />
          <details class="raw">
            <summary>Record as JSON</summary>
            <pre tabIndex={0} class="code">
              {JSON.stringify({ ...row, content: undefined }, null, 2)}
            </pre>
          </details>
        </>
      )}
    </aside>
  );
}

function Summary({ row }: { row: RequestRow }) {
  const conversation = conversationOf(row);
  return (
    <section>
      <dl class="facts">
        <dt>Status</dt>
        <dd>
          <Status row={row} />
        </dd>
        <dt>Began</dt>
        <dd>{dateTime(Date.parse(row.created_at))}</dd>
        <dt>Model</dt>
        <dd>
          {row.alias && row.alias !== row.model ? `${row.alias} → ` : ''}
          <a href={`/console/explain?model=${encodeURIComponent(row.model)}`}>{row.model}</a>
          {row.answered_by && (
            <span class="dim">
              {' '}
              answered by {row.answered_by.provider} as {row.answered_by.upstream_model}
            </span>
          )}
        </dd>
        <dt>Surface</dt>
        <dd>
          {row.surface}
          {row.stream && <span class="tag">stream</span>}
        </dd>
        <dt>Key</dt>
        <dd>
          <a href={`/console/keys?open=${row.key.id}`}>{row.key.name}</a>
        </dd>
        {conversation !== null && (
          <>
            <dt>Conversation</dt>
            <dd>
              <a
                class="mono"
                href={
                  conversation.startsWith('sess_')
                    ? `/console/sessions/${conversation}`
                    : toRequestsOf('conversation', conversation)
                }
              >
                {conversation}
              </a>
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Attempts({ row }: { row: RequestRow }) {
  return (
    <section>
      <h3>Attempts</h3>
      <table class="table plain">
        <thead>
          <tr>
            <th>Provider</th>
            <th>Model</th>
            <th>Outcome</th>
            <th>Cause</th>
            <th>Then</th>
            <th class="right">Took</th>
          </tr>
        </thead>
        <tbody>
          {row.attempts?.map((attempt, index) => (
            <tr key={index}>
              <td>
                {attempt.provider}
                {attempt.credential && ", with the client's own credential"}
              </td>
              <td>{attempt.model}</td>
              <td class={attempt.outcome === 'ok' ? '' : 'bad'}>{attempt.outcome}</td>
              <td>{attempt.cause ?? NONE}</td>
              <td>{attempt.verdict ?? NONE}</td>
              <td class="right">{duration(attempt.ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const CLASSES = [
  ['Input', 'input_tokens'],
  ['Cache read', 'cache_read_tokens'],
  ['Cache write 5 min', 'cache_write_5m_tokens'],
  ['Cache write 1 h', 'cache_write_1h_tokens'],
  ['Output', 'output_tokens'],
  ['of it reasoning', 'reasoning_tokens'],
  ['Images', 'images'],
  ['Seconds', 'seconds'],
] as const;

function Money({ row }: { row: RequestRow }) {
  const used = CLASSES.filter(([, name]) => row.usage[name] > 0);
  return (
    <section class="money">
      <div>
        <h3>Money</h3>
        <dl class="facts">
          <dt>Reserved</dt>
          <dd>
            {row.reserved === undefined ? (
              <span class="dim">nothing, without a limit</span>
            ) : (
              money(row.reserved)
            )}
          </dd>
          <dt>Settled</dt>
          <dd class={row.cost === null ? 'bad' : ''}>
            {row.result === 'pending' ? NONE : money(row.cost)}
          </dd>
        </dl>
      </div>
      <div>
        <h3>Tokens {row.estimated && <span class="tag warn">estimated</span>}</h3>
        {used.length === 0 ? (
          <p class="dim">None</p>
        ) : (
          <dl class="facts numbers">
            {used.map(([title, name]) => (
              <>
                <dt>{title}</dt>
                <dd>{count(row.usage[name])}</dd>
              </>
            ))}
          </dl>
        )}
      </div>
    </section>
  );
}

function Content({ row }: { row: RequestRow }) {
  if (!row.content)
    return (
      <section>
        <h3>Content</h3>
        <p class="dim">
          Not kept. <code>log.content</code> keeps it:{' '}
          <code>gateway explain server.log.content</code>
        </p>
      </section>
    );
  return (
    <section class="stack">
      <h3>Request</h3>
      <pre tabIndex={0} class="code wrap">
        {pretty(row.content.request)}
      </pre>
      <h3>Answer</h3>
      <pre tabIndex={0} class="code wrap">
        {pretty(row.content.response)}
      </pre>
    </section>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
