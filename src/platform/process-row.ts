export type ProcessRow = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly cpuMs: number;
  readonly memoryBytes: () => number;
};
