/** The first SIGINT or SIGTERM aborts the signal; a second one ends the process. */
export interface Interrupt {
  signal: AbortSignal;
  dispose(): void;
}

/** `last` is what is left to do at the second one; a third does not wait for it. */
export function onInterrupt(tell: () => void, last: () => Promise<void> = async () => {}): Interrupt {
  const controller = new AbortController();
  let ending = false;
  const handler = () => {
    if (ending) process.exit(3);
    if (controller.signal.aborted) {
      ending = true;
      void last().finally(() => process.exit(3));
      return;
    }
    tell();
    controller.abort();
  };
  process.on('SIGINT', handler);
  process.on('SIGTERM', handler);
  return {
    signal: controller.signal,
    dispose() {
      process.off('SIGINT', handler);
      process.off('SIGTERM', handler);
    },
  };
}
