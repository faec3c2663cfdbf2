import type { CommandResult, Failure } from '../command.ts';
import { stringifyWithRaw } from '../../core/json/raw.ts';
import { printable, printableColoured, printableJson } from '../../core/printable.ts';
import type { Style } from './style.ts';

/** Destination of text: a process stream, or a buffer in tests. */
export interface Sink {
  write(text: string | Uint8Array): boolean;
  once(event: 'drain' | 'close' | 'error', listener: () => void): unknown;
  readonly isTTY?: boolean | undefined;
}

export interface OutputOptions {
  stdout: Sink;
  stderr: Sink;
  format: 'text' | 'json';
  quiet: boolean;
  debug: boolean;
  /** Styles of stdout and of stderr. */
  style: Style;
  errorStyle: Style;
  /** Returns the failure that is reported in place of one. Default: the same. */
  rename?: ((failure: Failure) => Failure) | undefined;
  /** Called when the result begins to come in pieces. */
  onEvents(): void;
}

/** A result that comes in pieces: text as it is, or NDJSON with a first and a last line of our own. */
export interface EventWriter {
  /** `text` is what a terminal shows; `event` the server's own object, untouched. */
  write(piece: { text: string; event: unknown }): Promise<void>;
  /** The last line; in text, a newline when the last piece had none. */
  end(reason: string, failure?: Failure): Promise<void>;
}

/** The only way to stdout and stderr: stdout carries the result, stderr everything else. */
export interface Output {
  readonly format: 'text' | 'json';
  readonly quiet: boolean;
  /** Progress; silent with --quiet. */
  note(text: string): void;
  /** Shown at once, and listed in the JSON document. */
  warn(text: string): void;
  /** Shown only with --debug. */
  debug(text: string): void;
  /** `schema` names the command, {@link CommandResult} its outcome. */
  result(result: CommandResult, schema: string): Promise<void>;
  failure(failure: Failure, schema: string): Promise<void>;
  events(): Promise<EventWriter>;
  /** Text to stdout as it is. */
  print(text: string): Promise<void>;
}

export function createOutput(options: OutputOptions): Output {
  const { stdout, stderr, format, errorStyle, rename = (failure) => failure } = options;
  const warnings: string[] = [];
  const tell = (text: string) => void stderr.write(`${printableColoured(text)}\n`);
  const print = (text: string) =>
    write(stdout, text.endsWith('\n') || text === '' ? text : `${text}\n`);
  const document = (schema: string, data: unknown, failure?: Failure) => {
    const envelope = {
      schema,
      ok: failure === undefined,
      data,
      warnings,
      error: toErrorMember(failure),
    };
    return print(printableJson(stringifyWithRaw(envelope, '  ')));
  };
  const tellFailure = (ended: Failure) => {
    const failure = rename(ended);
    if (failure.details) tell(failure.details);
    tell(`${errorStyle.red('error')}: ${indented(failure.message)}`);
    if (failure.hint !== undefined) tell(`${errorStyle.dim('hint')}: ${failure.hint}`);
  };

  return {
    format,
    quiet: options.quiet,
    print,
    note: (text) => void (options.quiet || tell(text)),
    debug: (text) => void (options.debug && tell(errorStyle.dim(text))),
    warn(text) {
      warnings.push(text);
      if (format === 'text') tell(`${errorStyle.yellow('warning')}: ${indented(text)}`);
    },
    async result({ data, text, failure, verbatim, bytes }, schema) {
      if (format === 'json') return document(schema, data, failure && rename(failure));
      if (bytes !== undefined && stdout.isTTY !== true) return write(stdout, bytes);
      const body = typeof text === 'function' ? await text(options.style) : text;
      const isExact = verbatim === true && stdout.isTTY !== true;
      const shown = body ?? printableJson(stringifyWithRaw(data, '  '));
      await print(isExact ? shown : printableColoured(shown));
      if (failure !== undefined) tellFailure(failure);
    },
    async failure(failure, schema) {
      if (format === 'json') return document(schema, null, rename(failure));
      tellFailure(failure);
    },
    async events() {
      options.onEvents();
      return format === 'json'
        ? createNdjson(stdout, rename)
        : createTextWriter(stdout, tellFailure);
    },
  };
}

async function createNdjson(
  stdout: Sink,
  rename: (failure: Failure) => Failure,
): Promise<EventWriter> {
  const line = (value: unknown) => write(stdout, `${printableJson(stringifyWithRaw(value))}\n`);
  await line({ type: 'version', version: 1 });
  return {
    write: ({ event }) => line({ type: 'event', event }),
    end: (reason, failure) =>
      line({ type: 'end', reason, ...(failure && { error: toErrorMember(rename(failure)) }) }),
  };
}

function createTextWriter(stdout: Sink, tellFailure: (failure: Failure) => void): EventWriter {
  let last = '\n';
  return {
    async write({ text }) {
      const shown = printable(text);
      if (shown === '') return;
      last = shown;
      await write(stdout, shown);
    },
    async end(_reason, failure) {
      if (!last.endsWith('\n')) await write(stdout, '\n');
      if (failure !== undefined) tellFailure(failure);
    },
  };
}

/** Further lines cannot be taken for lines of ours. */
function indented(message: string): string {
  return printable(message).replaceAll('\n', '\n  ');
}

function toErrorMember(failure: Failure | undefined) {
  if (failure === undefined) return null;
  const { code, message, hint = null, status = null } = failure;
  return { code, message, hint, status };
}

/** Waits while the reader is slower than we are, so that nothing piles up in memory. */
async function write(sink: Sink, text: string | Uint8Array): Promise<void> {
  if (text.length === 0 || sink.write(text)) return;
  await new Promise<void>((resolve) => {
    sink.once('drain', resolve);
    sink.once('close', resolve);
    sink.once('error', resolve);
  });
}
