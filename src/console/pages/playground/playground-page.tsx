import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { toShellArguments } from '../../../core/shell-word.ts';
import type { Page, RequestRow } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import { WIRE_PROTOCOLS, parseTools } from '../../logic/wire-requests.ts';
import type { Prompt } from '../../logic/wire-requests.ts';
import { toApiError, useLoad } from '../../parts/load.ts';
import { Empty, Field, Foot, Problem } from '../../parts/parts.tsx';
import { WirePane } from './wire-pane.tsx';
import type { Asked } from './wire-pane.tsx';
import '../../styles/playground.css';

/** A prompt as it is typed: its tools are still text. */
type Draft = Omit<Prompt, 'tools'> & { readonly tools: string };

const EMPTY: Draft = {
  model: '',
  system: '',
  text: 'Say hello.',
  picture: undefined,
  tools: '',
  isStream: false,
};

/** One prompt in several protocols side by side, with the bytes on the wire. */
export function PlaygroundPage() {
  const { api, isAdmin } = useConsole();
  const { url } = useLocation();
  const query = new URL(url, location.origin).searchParams;
  const models = useLoad(
    async (signal) => (await api.json<Page<{ id: string }>>('/v1/models', { signal })).data,
    [],
  );
  const prompt = useSignal<Draft>({ ...EMPTY, model: query.get('model') ?? '' });
  const chosen = useSignal<readonly string[]>(['chat', 'messages']);
  const asked = useSignal<Asked | undefined>(undefined);
  const problem = useSignal('');
  const from = query.get('from');
  useEffect(() => {
    if (!from) return;
    const path = isAdmin() ? '/admin/v1/requests' : '/v1/account/executions';
    const load = async (): Promise<void> => {
      const row = await api.json<RequestRow>(`${path}/${encodeURIComponent(from)}`);
      prompt.value = { ...prompt.value, model: row.alias ?? row.model, isStream: row.stream };
      if (WIRE_PROTOCOLS.some(({ id }) => id === row.surface)) chosen.value = [row.surface];
    };
    load().catch((thrown: unknown) => (problem.value = toApiError(thrown).message));
  }, [from]);
  const name = prompt.value.model || (models.value.value?.[0]?.id ?? '');
  const send = (): void => {
    try {
      const asking = { ...prompt.value, model: name, tools: parseTools(prompt.value.tools) };
      asked.value = { prompt: asking, turn: (asked.value?.turn ?? 0) + 1 };
      problem.value = '';
    } catch (thrown) {
      problem.value = `tools: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    }
  };
  const toggle = (id: string): void => {
    const next = WIRE_PROTOCOLS.map((one) => one.id).filter(
      (one) => (one === id) !== chosen.value.includes(one),
    );
    if (next.length > 0) chosen.value = next;
  };
  return (
    <div class="page">
      <div class="head">
        <h1>Playground</h1>
        <div class="row" role="group" aria-label="Protocols">
          {WIRE_PROTOCOLS.map(({ id, title }) => (
            <button
              key={id}
              type="button"
              class="button"
              aria-pressed={chosen.value.includes(id)}
              onClick={() => toggle(id)}
            >
              {title}
            </button>
          ))}
        </div>
      </div>
      {models.value.value?.length === 0 && (
        <Empty title="No model yet" command="gateway init">
          A model of gateway.yaml maps a name to the providers that are asked here.
        </Empty>
      )}
      <PromptForm
        prompt={prompt}
        models={models.value.value ?? []}
        problem={problem.value}
        onSend={send}
      />
      <div class="panes" role="region" aria-label="Requests and answers" tabIndex={0}>
        {WIRE_PROTOCOLS.filter(({ id }) => chosen.value.includes(id)).map((protocol) => (
          <WirePane key={protocol.id} protocol={protocol} asked={asked.value} />
        ))}
      </div>
      <Foot
        command={`gateway chat ${toShellArguments(name || 'MODEL', prompt.value.text.slice(0, 60))}`}
      >
        Calls count against the key that is signed in
      </Foot>
    </div>
  );
}

interface PromptFormProps {
  readonly prompt: Signal<Draft>;
  readonly models: readonly { id: string }[];
  readonly problem: string;
  readonly onSend: () => void;
}

function PromptForm({ prompt, models, problem, onSend }: PromptFormProps) {
  const draft = prompt.value;
  const set = (part: Partial<Draft>): void => void (prompt.value = { ...prompt.value, ...part });
  return (
    <form
      class="prompt"
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <Field label="Model">
        <input
          class="input mono"
          list="play-models"
          value={draft.model || (models[0]?.id ?? '')}
          onInput={({ currentTarget }) => set({ model: currentTarget.value })}
        />
      </Field>
      <datalist id="play-models">
        {models.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <Field label="System">
        <input
          class="input"
          placeholder="none"
          value={draft.system}
          onInput={({ currentTarget }) => set({ system: currentTarget.value })}
        />
      </Field>
      <Field label="Message">
        <textarea
          class="input"
          rows={3}
          value={draft.text}
          onInput={({ currentTarget }) => set({ text: currentTarget.value })}
        />
      </Field>
      <Field label="Tools, JSON">
        <textarea
          class="input mono"
          rows={3}
          placeholder='[{"name":"get_weather","parameters":{"type":"object"}}]'
          value={draft.tools}
          onInput={({ currentTarget }) => set({ tools: currentTarget.value })}
        />
      </Field>
      <div class="row prompt-foot">
        <label class="row">
          <span class="dim">Picture</span>
          <input
            type="file"
            accept="image/png,image/jpeg,image/webp,image/gif"
            onChange={({ currentTarget }) =>
              void readPicture(currentTarget.files?.[0]).then((picture) => set({ picture }))
            }
          />
        </label>
        <label class="row">
          <input
            type="checkbox"
            checked={draft.isStream}
            onChange={({ currentTarget }) => set({ isStream: currentTarget.checked })}
          />
          Stream
        </label>
        <span class="grow" />
        <button
          type="submit"
          class="button main"
          disabled={draft.model === '' && models.length === 0}
        >
          Send
        </button>
      </div>
      {problem && <Problem error={problem} />}
    </form>
  );
}

async function readPicture(file: File | undefined): Promise<Prompt['picture']> {
  if (!file) return undefined;
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return { type: file.type, data: btoa(text) };
}
