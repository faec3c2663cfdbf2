/** Name and offsets of one member of an object in its bytes; ends are exclusive, `keyStart` is the quote. */
export interface JsonMember {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** A member as the scan found it. */
export interface ScannedMember extends JsonMember {
  /** Elements or members of its value; 0 where that has none. */
  readonly size: number;
  /** True for an array that is not empty and holds only numbers. */
  readonly isNumbers: boolean;
}
