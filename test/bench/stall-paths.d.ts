import type { Document } from '../e2e/api/openapi-checker.ts';

export interface OperationWithBody {
  readonly method: string;
  /** As the document writes it: `/v1/sessions/{id}`. */
  readonly template: string;
  readonly path: string;
  readonly group: string;
  /** Members that it knows, as far as they have an example. */
  readonly members: Readonly<Record<string, unknown>>;
}

export function operationsWithBodies(documents: readonly Document[]): OperationWithBody[];
export function largeBody(members: Readonly<Record<string, unknown>>, values: string): string;
