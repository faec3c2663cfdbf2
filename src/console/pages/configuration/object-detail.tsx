import { useSignal } from '@preact/signals';
import type { ResourceView } from '../../../client/admin.ts';
import { toPatch } from '../../logic/line-diff.ts';
import { toEntry } from '../../logic/to-yaml.ts';
import { Copy } from '../../parts/parts.tsx';
import { Editor } from './editor.tsx';
import type { Fault } from './editor.tsx';
import { ownerOf } from './owner-of.ts';

interface ObjectDetailProps {
  readonly kind: string;
  readonly object: ResourceView;
  readonly onClose: () => void;
}

const NONE: readonly Fault[] = [];

/** One object as the entry of a file. An edit changes nothing here: it becomes a patch for the repository. */
export function ObjectDetail({ kind, object, onClose }: ObjectDetailProps) {
  const owner = ownerOf(object);
  const entry = toEntry(object);
  const text = useSignal(entry);
  const patch = toPatch('gateway.yaml', `${kind}:\n${entry}`, `${kind}:\n${text.value}`);
  return (
    <aside class="detail" aria-label={`${kind} ${object.name}`}>
      <div class="title">
        <h2 class="cut">{object.name}</h2>
        <span class="dim grow cut">
          {owner ? `owned by ${owner}, read only here` : 'owned by nobody'}
        </span>
        <button type="button" class="button small plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      <section>
        <div class="row">
          <h3 class="grow">As an entry of {kind}</h3>
          <Copy text={() => text.value} />
        </div>
        <Editor
          label={`${object.name} as YAML`}
          text={entry}
          faults={NONE}
          onChange={(next) => (text.value = next)}
        />
      </section>
      <section>
        <div class="row">
          <h3 class="grow">Patch for the repository</h3>
          {patch && <Copy text={patch} label="Copy as patch" />}
        </div>
        {patch ? (
          <pre tabIndex={0} class="code patch">
            {patch.split('\n').map((line, index) => (
              <span
                key={index}
                class={line.startsWith('+') ? 'good' : line.startsWith('-') ? 'bad' : ''}
              >
                {`${line}\n`}
              </span>
            ))}
          </pre>
        ) : (
          <p class="dim">
            Edit the entry and copy the patch; <code>gateway apply</code> brings it here.
          </p>
        )}
      </section>
    </aside>
  );
}
