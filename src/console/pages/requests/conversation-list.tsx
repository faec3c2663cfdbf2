import type { RequestRow } from '../../api/views.ts';
import { count, duration, money } from '../../logic/format.ts';
import { groupConversations } from '../../logic/group-conversations.ts';
import { Ago, Empty } from '../../parts/parts.tsx';

/** Conversations and hosted Sessions with what they cost as a whole. */
export function ConversationList({
  rows,
  onPick,
}: {
  rows: readonly RequestRow[];
  onPick(id: string): void;
}) {
  const groups = groupConversations(rows);
  if (groups.length === 0)
    return (
      <Empty title="No conversation" command="gateway connect">
        None of these requests belongs to a conversation. Coding tools name theirs by themselves
        once they are connected.
      </Empty>
    );
  return (
    <div class="scroll">
      <table class="table">
        <thead>
          <tr>
            <th>Last</th>
            <th>Conversation</th>
            <th>Key</th>
            <th>Models</th>
            <th class="right">Requests</th>
            <th class="right">Failed</th>
            <th class="right">Lasted</th>
            <th class="right">Cost</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={group.id}>
              <td>
                <Ago at={group.last} />
              </td>
              <td>
                <button type="button" class="as-link mono" onClick={() => onPick(group.id)}>
                  {group.id}
                </button>
              </td>
              <td>{group.key}</td>
              <td class="cut" title={group.models.join(', ')}>
                {group.models.join(', ')}
              </td>
              <td class="right">{count(group.requests)}</td>
              <td class={`right${group.errors > 0 ? ' bad' : ''}`}>{count(group.errors)}</td>
              <td class="right">{duration(Date.parse(group.last) - Date.parse(group.first))}</td>
              <td class="right">
                {money(group.cost)}
                {group.unpriced > 0 && <span class="bad"> + {group.unpriced} unpriced</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
