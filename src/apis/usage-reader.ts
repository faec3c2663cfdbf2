import { parseJson } from '../core/json/value.ts';
import type { Buffer } from 'node:buffer';
import { ByteGatherer } from '../core/sse/byte-gatherer.ts';
import { valueAt } from '../core/json/path.ts';
import { createSseFramer } from '../core/sse/sse.ts';
import { NO_USAGE } from '../core/usage.ts';
import type { Usage } from '../core/usage.ts';
import type { Api } from '../routing/catalog.ts';

/** Most bytes of an answer that is looked into; a larger one is not counted. */
const MAX_BYTES = 16 * 1024 * 1024;
const LF = 10;

/** Looks for what an answer counts while it passes by; the last number found is the one that counts. */
export interface UsageReader {
  push(chunk: Buffer): void;
  /** Returns the usage found by now; undefined when none of the declared fields was found. */
  end(): Usage | undefined;
}

/** Undefined for an API that is not priced by its answers. */
export function createUsageReader(
  api: Api,
  contentType: string | undefined,
): UsageReader | undefined {
  if (api.usage.length === 0) return undefined;
  const found: Partial<Usage> = {};
  const look = (text: string): void => {
    const document = parseJson(text);
    for (const { counts, path } of api.usage) {
      const value = valueAt(document, path);
      if (typeof value === 'number' && value >= 0 && value < Infinity) found[counts] = value;
    }
  };
  const documents = documentsOf(contentType ?? '', look);
  return {
    push: (chunk) => documents.push(chunk),
    end() {
      documents.end();
      return Object.keys(found).length === 0 ? undefined : { ...NO_USAGE, ...found };
    },
  };
}

interface Documents {
  push(chunk: Buffer): void;
  end(): void;
}

type Look = (text: string) => void;

/** The JSON documents of an answer: it all, its lines, or the data of its events. */
function documentsOf(contentType: string, look: Look): Documents {
  if (/^text\/event-stream\b/i.test(contentType)) return eventsOf(look);
  if (/^application\/(x-)?(ndjson|jsonl|json-lines)\b/i.test(contentType)) return linesOf(look);
  return wholeOf(look);
}

function eventsOf(look: Look): Documents {
  const framer = createSseFramer({ maxFrameBytes: MAX_BYTES });
  return {
    push(chunk) {
      for (const frame of framer.push(chunk)) look(frame.data ?? '');
    },
    end() {
      const last = framer.end();
      if (last) look(last.data ?? '');
    },
  };
}

function linesOf(look: Look): Documents {
  let line = new ByteGatherer();
  let isTooLong = false;
  const endLine = (): void => {
    if (!isTooLong && line.length > 0) look(line.concat().toString());
    line = new ByteGatherer();
    isTooLong = false;
  };
  const add = (piece: Buffer): void => {
    isTooLong ||= line.length + piece.length > MAX_BYTES;
    if (!isTooLong) line.add(piece);
  };
  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, from)) {
        add(chunk.subarray(from, at));
        endLine();
        from = at + 1;
      }
      add(chunk.subarray(from));
    },
    end: endLine,
  };
}

function wholeOf(look: Look): Documents {
  const gathered = new ByteGatherer();
  let isTooLong = false;
  return {
    push(chunk) {
      isTooLong ||= gathered.length + chunk.length > MAX_BYTES;
      if (!isTooLong) gathered.add(chunk);
    },
    end() {
      if (!isTooLong && gathered.length > 0) look(gathered.concat().toString());
    },
  };
}
