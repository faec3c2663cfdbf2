import { ROLES, SCOPES } from '../../../core/access.ts';
import type { Role } from '../../../core/access.ts';
import { useSignal } from '@preact/signals';
import { useConsole } from '../../frame/state.ts';
import { toKeyBody, toKeyCommand, toRecipes } from '../../logic/key-recipes.ts';
import type { KeyForm } from '../../logic/key-recipes.ts';
import { toApiError } from '../../parts/load.ts';
import { Command, Copy, Field, Problem } from '../../parts/parts.tsx';
import type { CreatedKey } from './key-state.tsx';

const EMPTY: KeyForm = {
  name: '',
  isLimited: false,
  scopes: ['inference', 'models'],
  role: '',
  day: '',
  month: '',
  days: '',
  models: '',
};

/** Makes a key; its value is shown once, with what to do with it. */
export function CreateKey({ onClose, onCreated }: { onClose(): void; onCreated(): void }) {
  const { api } = useConsole();
  const form = useSignal(EMPTY);
  const problem = useSignal('');
  const created = useSignal<CreatedKey | undefined>(undefined);
  const set = (part: Partial<KeyForm>): void => void (form.value = { ...form.value, ...part });
  const create = async (): Promise<void> => {
    try {
      const body = toKeyBody(form.value, Date.now());
      created.value = await api.json<CreatedKey>('/admin/v1/keys', { method: 'POST', body });
      problem.value = '';
      onCreated();
    } catch (thrown) {
      problem.value = toApiError(thrown).message;
    }
  };
  return (
    <aside class="detail" aria-label="New key">
      <div class="title">
        <h2 class="grow">{created.value ? `Key ${created.value.name}` : 'New key'}</h2>
        <button type="button" class="button small plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      {created.value ? (
        <Shown value={created.value.value} />
      ) : (
        <form
          class="key-form"
          onSubmit={(event) => {
            event.preventDefault();
            void create();
          }}
        >
          {problem.value && <Problem error={problem.value} />}
          <Field label="Name">
            <input
              class="input"
              required
              value={form.value.name}
              onInput={({ currentTarget }) => set({ name: currentTarget.value })}
            />
          </Field>
          <div class="pair">
            <RoleField form={form.value} set={set} />
            <Field label="Limit of a day, USD">
              <input
                class="input"
                inputMode="decimal"
                placeholder="none"
                value={form.value.day}
                onInput={({ currentTarget }) => set({ day: currentTarget.value })}
              />
            </Field>
            <Field label="Limit of a month, USD">
              <input
                class="input"
                inputMode="decimal"
                placeholder="none"
                value={form.value.month}
                onInput={({ currentTarget }) => set({ month: currentTarget.value })}
              />
            </Field>
            <Field label="Expires in, days">
              <input
                class="input"
                type="number"
                min="1"
                placeholder="never"
                value={form.value.days}
                onInput={({ currentTarget }) => set({ days: currentTarget.value })}
              />
            </Field>
            <Field label="Allowed models">
              <input
                class="input mono"
                placeholder="all"
                value={form.value.models}
                onInput={({ currentTarget }) => set({ models: currentTarget.value })}
              />
            </Field>
          </div>
          <Scopes form={form.value} set={set} />
          <Command line={toKeyCommand(form.value)} />
          <button type="submit" class="button main">
            Create key
          </button>
        </form>
      )}
    </aside>
  );
}

interface FieldProps {
  form: KeyForm;
  set(part: Partial<KeyForm>): void;
}

function RoleField({ form, set }: FieldProps) {
  return (
    <Field label="Role">
      <select
        class="input"
        value={form.role}
        onChange={({ currentTarget }) => set({ role: currentTarget.value as Role | '' })}
      >
        <option value="">none: its scopes alone</option>
        {ROLES.map((role) => (
          <option key={role} value={role}>
            {role}
          </option>
        ))}
      </select>
    </Field>
  );
}

function Scopes({ form, set }: FieldProps) {
  const toggle = (name: string): void =>
    set({
      scopes: SCOPES.filter((one) =>
        one === name ? !form.scopes.includes(one) : form.scopes.includes(one),
      ),
    });
  return (
    <fieldset class="scopes">
      <legend>Scopes</legend>
      <label>
        <input
          type="radio"
          name="scopes"
          checked={!form.isLimited}
          onChange={() => set({ isLimited: false })}
        />{' '}
        all but admin
      </label>
      <label>
        <input
          type="radio"
          name="scopes"
          checked={form.isLimited}
          onChange={() => set({ isLimited: true })}
        />{' '}
        only these
      </label>
      <div class="choices">
        {SCOPES.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              disabled={!form.isLimited}
              checked={form.scopes.includes(name)}
              onChange={() => toggle(name)}
            />{' '}
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The value of a key, and the settings of tools with it. */
export function Shown({ value }: { value: string }) {
  const { apiOrigin } = useConsole();
  return (
    <>
      <section>
        <h3>Value, shown only now</h3>
        <div class="row value">
          <code class="grow">{value}</code>
          <Copy text={value} />
        </div>
      </section>
      {toRecipes(apiOrigin(), value).map(({ tool, text }) => (
        <section key={tool}>
          <div class="row">
            <h3 class="grow">{tool}</h3>
            <Copy text={text} />
          </div>
          <pre tabIndex={0} class="code">
            {text}
          </pre>
        </section>
      ))}
    </>
  );
}
