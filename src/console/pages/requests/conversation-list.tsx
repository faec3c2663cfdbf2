import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Page, RequestRow } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import { count, duration, money } from '../../logic/format.ts';
import { groupConversations, joinWholes } from '../../logic/group-conversations.ts';
import type { Conversation, ConversationSums } from '../../logic/group-conversations.ts';
import { useLoad } from '../../parts/load.ts';
import { Ago, Empty, Problem } from '../../parts/parts.tsx';

interface ConversationListProps {
  readonly rows: readonly RequestRow[];
  onPick(id: string): void;
}

/** Conversations whose sums are requested, and their characters; others are summed from loaded requests. */
const MOST_WHOLES = 100;
const MOST_CHARACTERS = 6_000;
/** Sums are asked for again so often while requests come. */
const FRESH_MS = 5_000;
/** Looks that follow the last request, whose use is summed a moment after it is reported. */
const QUIET_TURNS = 2;

/** Conversations and hosted Sessions with their whole cost. */
export function ConversationList({ rows, onPick }: ConversationListProps) {
  const loaded = useMemo(() => groupConversations(rows), [rows]);
  const { wholes, error } = useWholes(rows, loaded);
  const groups = joinWholes(loaded, wholes);
  if (groups.length === 0)
    return (
      <Empty title="No conversation" command="gateway connect">
        None of these requests belongs to a conversation. Coding tools name theirs by themselves
        once they are connected.
      </Empty>
    );
  return (
    <div class="scroll">
      {error !== undefined && <Problem error={error} />}
      <table class="table" aria-label="Conversations">
        <thead>
          <tr>
            <th>Last</th>
            <th>Conversation</th>
            <th>Key</th>
            <th>Models</th>
            <th class="right">Requests</th>
            <th class="right">Failed</th>
            <th class="right">Lasted</th>
            <th class="right">Cost of the whole</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <Row key={`${group.organization} ${group.id}`} group={group} onPick={onPick} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ group, onPick }: { group: Conversation; onPick(id: string): void }) {
  const models = group.models.join(', ');
  return (
    <tr>
      <td>
        <Ago at={group.last} />
      </td>
      <td>
        <button type="button" class="as-link mono" onClick={() => onPick(group.id)}>
          {group.id}
        </button>
        {group.id.startsWith('sess_') && (
          <>
            {' '}
            <a href={`/console/sessions/${group.id}`} aria-label={`Session ${group.id}`}>
              Session
            </a>
          </>
        )}
      </td>
      <td>{group.key}</td>
      <td class="cut" title={models}>
        {models}
      </td>
      <td class="right">{count(group.requests)}</td>
      <td class={`right${group.errors > 0 ? ' bad' : ''}`}>{count(group.errors)}</td>
      <td class="right">{duration(Date.parse(group.last) - Date.parse(group.first))}</td>
      <td class={`right${group.cost === null ? ' bad' : ''}`}>
        {!group.isWhole && 'at least '}
        {money(group.cost)}
        {group.cost !== null && group.unpriced > 0 && (
          <span class="bad"> + {group.unpriced} unpriced</span>
        )}
      </td>
    </tr>
  );
}

/** Sums of the newest conversations, asked for again while requests come. */
function useWholes(
  rows: readonly RequestRow[],
  loaded: readonly Conversation[],
): { wholes: readonly ConversationSums[]; error: unknown } {
  const { api, isAdmin, now } = useConsole();
  const turn = Math.floor(now.value / FRESH_MS);
  const { value, error, reload } = useLoad(
    async (signal) => {
      const conversation = newestOf(loaded);
      if (conversation.length === 0) return undefined;
      const group = isAdmin() ? 'organization,conversation' : 'conversation';
      const path = isAdmin() ? '/admin/v1/usage' : '/v1/account/usage';
      const query = { group_by: group, conversation };
      return api.json<Page<ConversationSums>>(path, { query, signal });
    },
    [loaded.length === 0],
  );
  const seen = useRef({ rows, turns: 0 });
  useEffect(() => {
    const turns = seen.current.rows === rows ? seen.current.turns + 1 : 0;
    seen.current = { rows, turns };
    if (turns <= QUIET_TURNS) reload();
  }, [turn]);
  return { wholes: value.value?.data ?? [], error: error.value };
}

/** Ids of the first ones, as far as they fit into an address. */
function newestOf(loaded: readonly Conversation[]): string[] {
  const ids = [...new Set(loaded.map(({ id }) => id))].slice(0, MOST_WHOLES);
  let characters = 0;
  return ids.filter((id) => (characters += id.length) <= MOST_CHARACTERS);
}
