import { SingleBar } from 'cli-progress';
import { say } from '../output.js';

const LINE_EVERY_MS = 5000;

export interface Progress {
  advance(count: number): void;
  stop(): void;
}

/** `judged 1200 of 5000 (240/s, 16 s left)`. */
export function progressLine(done: number, total: number, elapsedMs: number): string {
  const rate = elapsedMs > 0 ? (done * 1000) / elapsedMs : 0;
  const left = rate > 0 ? `${Math.ceil((total - done) / rate)} s left` : 'nothing decided yet';
  return `judged ${done} of ${total} (${Math.round(rate)}/s, ${left})`;
}

function bar(total: number): Progress {
  const single = new SingleBar({
    format: 'judging {bar} {value}/{total} | {speed}/s | {eta_formatted} left',
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
    etaBuffer: 50,
  });
  const started = Date.now();
  let done = 0;
  single.start(total, 0, { speed: 0 });
  return {
    advance(count) {
      done += count;
      const seconds = Math.max(0.001, (Date.now() - started) / 1000);
      single.update(Math.min(done, total), { speed: Math.round(done / seconds) });
    },
    stop: () => single.stop(),
  };
}

function lines(total: number): Progress {
  const started = Date.now();
  let done = 0;
  const timer = setInterval(() => say(progressLine(done, total, Date.now() - started)), LINE_EVERY_MS);
  timer.unref();
  return {
    advance(count) {
      done += count;
    },
    stop: () => clearInterval(timer),
  };
}

const silent: Progress = { advance() {}, stop() {} };

/** A bar on a terminal, else a line every five seconds; nothing with `--json` away from a terminal (DESIGN 8). */
export function openProgress(total: number, json: boolean): Progress {
  if (process.stderr.isTTY) return bar(total);
  return json ? silent : lines(total);
}
