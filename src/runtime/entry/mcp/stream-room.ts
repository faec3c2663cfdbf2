/** Bounds how many streams each organization has open. */
export interface StreamRoom {
  /** Gives what lets go of the place; undefined when there is none left. */
  enter(organization: string): (() => void) | undefined;
}

export function createStreamRoom(max: number): StreamRoom {
  const open = new Map<string, number>();
  return {
    enter(organization) {
      const count = open.get(organization) ?? 0;
      if (count >= max) return undefined;
      open.set(organization, count + 1);
      let isIn = true;
      return () => {
        if (!isIn) return;
        isIn = false;
        const left = (open.get(organization) ?? 1) - 1;
        if (left > 0) open.set(organization, left);
        else open.delete(organization);
      };
    },
  };
}
