import type { Clock } from './time/clock.ts';
import { oneLine, printableJson } from './printable.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log lines; secrets never belong in a field. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Writes the buffered lines. */
  flush(): void;
}

export interface LogOptions {
  clock: Clock;
  level: LogLevel;
  format: 'json' | 'text';
  /** Renders lines, each with its end, in place of `format`. */
  render?: ((line: LogLine) => string) | undefined;
  /** Takes whole lines; called at most once per `FLUSH_MS` unless much is gathered. */
  write(lines: string): void;
}

const FLUSH_MS = 20;
const FLUSH_CHARS = 64 * 1024;

/** Gathers lines for a moment: one write per request would cost more than the request's own work. */
export function createLog(options: LogOptions): Log {
  const { clock, write } = options;
  const threshold = LOG_LEVELS.indexOf(options.level);
  const render = options.render ?? (options.format === 'json' ? toJsonLine : toTextLine);
  const stamp = createStamp(clock);
  let gathered = '';
  let scheduled = false;

  const flush = (): void => {
    if (gathered === '') return;
    const lines = gathered;
    gathered = '';
    write(lines);
  };

  const at = (level: LogLevel) => {
    if (LOG_LEVELS.indexOf(level) < threshold) return () => undefined;
    return (message: string, fields: LogFields = {}): void => {
      gathered += render({ time: stamp(), level, message, fields });
      if (gathered.length > FLUSH_CHARS) return flush();
      if (scheduled) return;
      scheduled = true;
      clock.setTimeout(() => {
        scheduled = false;
        flush();
      }, FLUSH_MS);
    };
  };

  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), flush };
}

/** The instant in ISO 8601, written once a millisecond. */
function createStamp(clock: Clock): () => string {
  let at = Number.NaN;
  let text = '';
  return () => {
    const now = clock.now();
    if (now !== at) text = new Date(now).toISOString();
    at = now;
    return text;
  };
}

/** One event of a log. */
export interface LogLine {
  /** ISO 8601. */
  time: string;
  level: LogLevel;
  message: string;
  fields: LogFields;
}

function toJsonLine({ time, level, message, fields }: LogLine): string {
  return `${printableJson(JSON.stringify({ time, level, message, ...fields }))}\n`;
}

/** `12:01:33.123 info  request model=acme/fast …`, on one line. */
export function toTextLine({ time, level, message, fields }: LogLine): string {
  let line = `${time.slice(11, 23)} ${level.padEnd(5)} ${oneLine(message)}`;
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined || value === null) continue;
    line += ` ${name}=${printableJson(toTextValue(value))}`;
  }
  return `${line}\n`;
}

function toTextValue(value: unknown): string {
  if (typeof value === 'string') return quoteIfNeeded(value);
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}

/** A value with blanks, quotes or line breaks is quoted, so that one event stays one line. */
function quoteIfNeeded(value: string): string {
  return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}
