import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A button with a list below it; it closes by Escape and by a click outside of it. */
export function Menu({ label, children }: { label: string; children: ComponentChildren }) {
  const isOpen = useSignal(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen.value) return undefined;
    const close = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) isOpen.value = false;
    };
    document.addEventListener('pointerdown', close);
    return () => document.removeEventListener('pointerdown', close);
  }, [isOpen.value]);
  return (
    <div
      class="menu"
      ref={root}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen.value) return;
        event.stopPropagation();
        isOpen.value = false;
        root.current?.querySelector('button')?.focus();
      }}
    >
      <button
        type="button"
        class="button"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        {label}
      </button>
      {isOpen.value && (
        <div class="items" role="group" aria-label={label}>
          {children}
        </div>
      )}
    </div>
  );
}
