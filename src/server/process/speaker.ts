import { formatDiagnostics, hasErrors } from '../../config/source/diagnostic.ts';
import type { Diagnostic } from '../../config/source/diagnostic.ts';
import { reasonOf } from '../../core/errors.ts';
import { createLog } from '../../core/log.ts';
import type { LogOptions } from '../../core/log.ts';
import { oneLine } from '../../core/printable.ts';
import { systemClock } from '../../core/time/clock.ts';

export interface SpeakerOptions {
  format: LogOptions['format'];
  /** True where a person reads along. */
  isTerminal: boolean;
  write(text: string): void;
}

/** Writes the words of a start: text for people on a terminal, elsewhere lines of the log only. */
export interface Speaker {
  /** False: neither text of several lines nor keys are written. */
  readonly isForPeople: boolean;
  /** Writes text as it is for people; else its lines as one line of the log. Nothing for no text. */
  note(text: string | undefined): void;
  /** Reports findings. Those that end a start are text also without a terminal, unless the log is JSON. */
  tell(diagnostics: readonly Diagnostic[]): void;
  fail(error: unknown): void;
}

export function createSpeaker({ format, isTerminal, write }: SpeakerOptions): Speaker {
  const isForPeople = isTerminal && format === 'text';
  // A supervisor waits for these lines, so the level of the log does not leave them out.
  const log = createLog({ clock: systemClock, level: 'info', format, write });
  return {
    isForPeople,
    note(text) {
      if (text === undefined || text === '') return;
      if (isForPeople) return write(text.endsWith('\n') ? text : `${text}\n`);
      const lines = text.split('\n').map((line) => line.trim());
      log.info(lines.filter((line) => line !== '').join(' '));
      log.flush();
    },
    tell(diagnostics) {
      if (diagnostics.length === 0) return;
      if (isForPeople || (format === 'text' && hasErrors(diagnostics)))
        return write(`${formatDiagnostics(diagnostics, 'text')}\n`);
      for (const { file, line, column, path, severity, message, hint } of diagnostics) {
        const level = severity === 'error' ? 'error' : 'warn';
        log[level](oneLine(message), {
          at: file === '' ? undefined : `${file}:${line}:${column}`,
          path: path || undefined,
          hint,
        });
      }
      log.flush();
    },
    fail(error) {
      const reason = reasonOf(error);
      if (format === 'text') return write(`gateway: ${reason}\n`);
      log.error('the gateway cannot serve', { reason });
      log.flush();
    },
  };
}
