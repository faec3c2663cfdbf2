import { parseKeepingDigits } from '../../core/json/digits.ts';
import { stringifyWithRaw } from '../../core/json/raw.ts';
import { redactSecrets } from '../../core/redact.ts';

/** Shorter internal names would occur in ordinary words. */
const MIN_NAME = 4;

/**
 * Takes out of what a harness says what no client may see: the secrets that it was given, and the name
 * that it has for the Session, which gives way to the public one.
 */
export class Scrubber {
  readonly #secrets: readonly string[];
  readonly #names = new Map<string, string>();

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter((secret) => secret !== '');
  }

  rename(internal: string, shown: string): void {
    if (internal.length >= MIN_NAME) this.#names.set(internal, shown);
  }

  text(text: string): string {
    // Most texts are single words.
    if (text.length < MIN_NAME) return text;
    let result = redactSecrets(text, this.#secrets);
    for (const [internal, shown] of this.#names) result = result.replaceAll(internal, shown);
    return result;
  }

  json<T>(value: T): T {
    return parseKeepingDigits(this.text(stringifyWithRaw(value))) as T;
  }

  /** Length of the part that can be shown of a text that continues: its end may begin a secret. */
  safeLength(text: string): number {
    let kept = 0;
    for (const needle of [...this.#secrets, ...this.#names.keys()]) {
      const longest = Math.min(needle.length - 1, text.length);
      for (let length = longest; length > kept; length--)
        if (text.endsWith(needle.slice(0, length))) kept = length;
    }
    return text.length - kept;
  }
}
