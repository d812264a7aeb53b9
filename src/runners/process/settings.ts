export interface ProcessSettings {
  sandbox: 'bubblewrap' | 'container' | 'off';
  /** MiB of private memory of each process. */
  memoryMiB: number;
  /** Processes and threads of one run; held by the sandbox alone. */
  processes: number;
  /** MiB in the private folders of a run; held by the sandbox alone. */
  scratchMiB: number;
  /** Bytes of each output stream that are kept. */
  outputCap: number;
  /** Between SIGTERM and SIGKILL. */
  graceMs: number;
  /** Folders in which paths of tools must lie. */
  paths: readonly string[];
}
