import { defineConfig } from 'vitest/config';

/**
 * Two cores must do. Unit tests share their workers; files that start servers and processes wait for
 * them as much as they work, so that four at a time keep two cores busy. vitest alone would take one
 * worker on two cores.
 */
export default defineConfig({
  test: {
    // Inherited by the processes that tests start: every event is held to its schema.
    env: { SLUICE_CHECK_EVENTS: '1' },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          isolate: false,
          maxWorkers: 2,
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          // Loading every module anew for each file took as long as many of the tests.
          isolate: false,
          maxWorkers: 4,
          testTimeout: 60_000,
          // RabbitMQ takes its time to start beside others.
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          pool: 'forks',
          isolate: false,
          maxWorkers: 4,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'hostile',
          include: ['test/hostile/**/*.test.ts'],
          setupFiles: ['test/support/own-tmpdir.ts'],
          pool: 'forks',
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'chaos',
          include: ['test/chaos/**/*.test.ts'],
          pool: 'forks',
          maxWorkers: 2,
          testTimeout: 180_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
