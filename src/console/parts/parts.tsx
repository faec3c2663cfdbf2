import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useConsole } from '../frame/state.ts';
import { dateTime, relative } from '../logic/format.ts';
import { limitTone } from '../logic/limit-tone.ts';

/** A drawing of lines, 16 × 16, that says nothing by itself. */
export function Icon({ path }: { path: string }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <path
        d={path}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linejoin="round"
        stroke-linecap="round"
      />
    </svg>
  );
}

export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'busy';

const SHAPES: Readonly<Record<Tone, JSX.Element>> = {
  good: <circle cx="4.5" cy="4.5" r="3.5" fill="currentColor" />,
  bad: <path d="M4.5 0.5 8.8 8.200H0.200z" fill="currentColor" />,
  warn: <path d="M4.5 0.3 8.7 4.5 4.5 8.7 0.3 4.500z" fill="currentColor" />,
  dim: <circle cx="4.5" cy="4.5" r="3.2" fill="none" stroke="currentColor" stroke-width="1.4" />,
  busy: (
    <path d="M4.5 1a3.5 3.5 0 1 1-3.5 3.5" fill="none" stroke="currentColor" stroke-width="1.6" />
  ),
};

/** A state as a word and a shape, so that colour says nothing that they do not. */
export function State({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`state ${tone === 'busy' ? 'dim' : tone}`}>
      <svg width="9" height="9" viewBox="0 0 9 9" aria-hidden="true">
        {SHAPES[tone]}
      </svg>
      {children}
    </span>
  );
}

/** A time shown relatively, the exact one where it is pointed at. */
export function Ago({ at }: { at: string | null | undefined }) {
  const { now } = useConsole();
  if (!at) return <span class="dim">never</span>;
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={dateTime(ms)}>
      {relative(ms, now.value)}
    </time>
  );
}

/** A button that copies and says that it did. */
export function Copy({
  text,
  label = 'Copy',
  class: more = '',
}: {
  text: string | (() => string);
  label?: string;
  class?: string;
}) {
  const copied = useSignal(false);
  const copy = async (): Promise<void> => {
    await writeClipboard(typeof text === 'string' ? text : text());
    copied.value = true;
    setTimeout(() => (copied.value = false), 1_600);
  };
  return (
    <button type="button" class={`button small plain ${more}`} onClick={() => void copy()}>
      <span aria-live="polite">{copied.value ? '✓ Copied' : label}</span>
    </button>
  );
}

/** Pages that are not served over HTTPS or from loopback have no clipboard of their own. */
async function writeClipboard(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

/** A command line that can be copied. */
export function Command({ line }: { line: string }) {
  return (
    <span class="command">
      <code>{line}</code>
      <Copy text={line} />
    </span>
  );
}

/** Placeholder where nothing is yet: the reason, and the command that changes it. */
export function Empty({
  title,
  children,
  command,
}: {
  title: string;
  children?: ComponentChildren;
  command?: string;
}) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {command && <Command line={command} />}
    </div>
  );
}

export function Problem({ error }: { error: unknown }) {
  return (
    <p class="problem" role="alert">
      {error instanceof Error ? error.message : String(error)}
    </p>
  );
}

/** The line below a page: how to do the same by command. */
export function Foot({ command, children }: { command: string; children?: ComponentChildren }) {
  return (
    <div class="foot">
      <span class="grow">{children}</span>
      <span class="nowrap">by command</span>
      <Command line={command} />
    </div>
  );
}

export function Field({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  );
}

/** A share as a bar: of a limit, which warns and alarms at its marks, or of a whole, which never does. */
export function Share({
  of,
  limit,
  marks,
  label,
}: {
  of: number;
  /** Default: `of` is a share of a whole, 0 to 1. */
  limit?: number;
  /** Percents at which the limit raises alerts. */
  marks?: readonly number[] | undefined;
  label: string;
}) {
  const share = limit === undefined ? of : limit > 0 ? of / limit : 1;
  const tone = limit === undefined ? '' : limitTone(share, marks);
  return (
    <div class={`bar ${tone}`.trim()} role="img" aria-label={label}>
      <i style={{ width: `${Math.min(1, share) * 100}%` }} />
    </div>
  );
}
