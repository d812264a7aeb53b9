export interface Row {
  row: string;
  /** Checks a second, the median of the rounds; milliseconds where the row says so. */
  sluice: number;
  /** Checks a second at the peer's best: noise must not make it look slower than it is. */
  peer: number;
  ratio: number;
  bar: number;
  verdict: 'met' | 'missed' | 'INVALID' | 'FAILED';
  rounds: { sluice: number; peer: number }[];
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

export const hundredths = (value: number): number => Math.round(100 * value) / 100;
