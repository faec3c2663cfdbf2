import type { Use } from '../core/access.ts';
import type { ModelType } from '../core/model-type.ts';
import type { Family } from './family.ts';
import type { Question, RequestAddress, WireProtocol } from './protocol.ts';

/** A public inference endpoint: its wire protocol and how it is spoken to (contract: Endpoints). */
export interface InferenceSurface {
  /** Name in records and reports. */
  readonly name: string;
  /** Paths in the router's notation. */
  readonly paths: readonly string[];
  /** Default `POST`. */
  readonly method?: Question['method'];
  /** Right that it needs where it asks about something that a provider keeps. Default: that to call a model. */
  readonly use?: Use;
  readonly family: Family;
  readonly protocol: WireProtocol;
  /** False where a repeated call may be billed twice. */
  readonly repeatable: boolean;
  /** True: nothing is charged. Default false. */
  readonly free?: boolean;
  /** The only type of model that it takes; any other answers 400. Absent: whatever speaks the protocol. */
  readonly modelType?: ModelType;
  /** Takes `multipart/form-data`: `also`, or `only` (anything else answers 400). Default never. */
  readonly forms?: 'also' | 'only';
  /**
   * Reads a path and its query (empty, or with `?`) that say more than the protocol. Throws `not_found`
   * or `model_not_found`. Default: only the content type.
   */
  readonly address?: (path: string, search: string) => RequestAddress;
  /** Address of a call of that model without a stream, where bodies do not name it. Default: they do. */
  readonly addressOf?: (model: string) => RequestAddress;
  /** Request that shows the result of the call with this id. Default: its record. */
  readonly lookUp?: (id: string) => string;
  /** The surface that a path means, where several of one family share it. Default: this one. */
  readonly variant?: (path: string) => InferenceSurface | undefined;
}
