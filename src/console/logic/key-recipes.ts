import type { Role } from '../../core/access.ts';
import { toShellWord } from '../../core/shell-word.ts';

/** Recipe that makes a tool use the gateway with a key. */
export interface Recipe {
  readonly tool: string;
  readonly text: string;
}

/** Recipes to paste for common tools; `gateway connect` knows more of them and writes their files. */
export function toRecipes(origin: string, key: string): Recipe[] {
  return [
    {
      tool: 'Command line',
      text: `gateway login --server ${origin}\n# paste the key when it asks`,
    },
    {
      tool: 'Claude Code',
      text: `export ANTHROPIC_BASE_URL=${origin}\nexport ANTHROPIC_AUTH_TOKEN=${key}\ngateway connect claude --run`,
    },
    { tool: 'Codex', text: `export GATEWAY_API_KEY=${key}\ngateway connect codex --write` },
    {
      tool: 'OpenAI clients',
      text: `export OPENAI_BASE_URL=${origin}/v1\nexport OPENAI_API_KEY=${key}`,
    },
    {
      tool: 'curl',
      text: `curl ${origin}/v1/models -H "authorization: Bearer ${key}"`,
    },
  ];
}

export interface KeyForm {
  readonly name: string;
  readonly isLimited: boolean;
  readonly scopes: readonly string[];
  /** Empty: none, only the scopes bound it. */
  readonly role: Role | '';
  readonly day: string;
  readonly month: string;
  /** Days until it expires; empty for never. */
  readonly days: string;
  /** Patterns, by commas. */
  readonly models: string;
}

const DAY = 86_400_000;

/** The body that creates a key; absent members are left to the gateway. */
export function toKeyBody(form: KeyForm, now: number): Record<string, unknown> {
  const limit = { ...(form.day && { day: form.day }), ...(form.month && { month: form.month }) };
  const models = splitWords(form.models);
  return {
    name: form.name.trim(),
    ...(form.isLimited && { scopes: form.scopes }),
    ...(form.role && { role: form.role }),
    ...(Object.keys(limit).length > 0 && { spending_limit: limit }),
    ...(form.days && { expires_at: new Date(now + Number(form.days) * DAY).toISOString() }),
    ...(models.length > 0 && { allowed_models: models }),
  };
}

/** The command line that creates the same key. */
export function toKeyCommand(form: KeyForm): string {
  return [
    `gateway keys create ${toShellWord(form.name.trim() || 'NAME')}`,
    ...(form.isLimited ? form.scopes.map((scope) => `--scope ${scope}`) : []),
    ...(form.role ? [`--role ${form.role}`] : []),
    ...(form.day ? [`--spending-limit-day ${toShellWord(form.day)}`] : []),
    ...(form.month ? [`--spending-limit-month ${toShellWord(form.month)}`] : []),
    ...(form.days ? [`--expires-in ${toShellWord(`${form.days}d`)}`] : []),
    ...splitWords(form.models).map((model) => `--allowed-model ${toShellWord(model)}`),
  ].join(' ');
}

function splitWords(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}
