import { toTextLine, type LogLine } from '../../core/log.ts';
import { fromNanos } from '../../core/money.ts';
import { oneLine } from '../../core/printable.ts';
import type { Style } from '../output/style.ts';

/**
 * Renders log lines for the person at the terminal: requests as `12:01:33 200 chat acme/fast → openai
 * 0.4 s 12 + 50 tokens $0.0012 req_…`, everything else as a line of text.
 */
export function createRequestLines(style: Style): (line: LogLine) => string {
  return (line) => {
    if (line.message !== 'request') return toTextLine(line);
    const { fields } = line;
    const text = (name: string): string => {
      const value = fields[name];
      return typeof value === 'string' || typeof value === 'number' ? oneLine(String(value)) : '';
    };
    const provider = text('provider');
    const parts = [
      style.dim(line.time.slice(11, 19)),
      statusOf(text('status'), style),
      text('surface'),
      style.bold(text('model')),
      provider === '' ? '' : `→ ${provider}`,
      seconds(fields['total_ms']),
      tokens(fields['input_tokens'], fields['output_tokens']),
      dollars(fields['cost_nanos']),
      text('error') === '' ? '' : style.red(text('error')),
      text('causes') === '' ? failedAttempts(text('attempts')) : style.red(`(${text('causes')})`),
      style.dim(text('request_id')),
    ];
    return `${parts.filter((part) => part !== '').join(' ')}\n`;
  };
}

function statusOf(status: string, style: Style): string {
  if (status === '') return style.yellow('---');
  if (status.startsWith('2')) return style.green(status);
  return status.startsWith('4') ? style.yellow(status) : style.red(status);
}

function seconds(ms: unknown): string {
  if (typeof ms !== 'number') return '';
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function tokens(input: unknown, output: unknown): string {
  if (typeof input !== 'number' || typeof output !== 'number') return '';
  return input + output === 0 ? '' : `${input} + ${output} tokens`;
}

/** Null is a cost that is not known. */
function dollars(nanos: unknown): string {
  if (nanos === null) return 'unpriced';
  return typeof nanos === 'number' ? `$${fromNanos(nanos)}` : '';
}

/** Attempts of a request that took more than one. */
function failedAttempts(attempts: string): string {
  return attempts.includes(',') ? `(${attempts.replaceAll(',', ', ')})` : '';
}
