/** The first SIGINT or SIGTERM aborts the signal; a second one ends the process at once. */
export interface Interrupt {
  signal: AbortSignal;
  dispose(): void;
}

export function onInterrupt(tell: () => void): Interrupt {
  const controller = new AbortController();
  const handler = () => {
    if (controller.signal.aborted) process.exit(3);
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
