interface SparklineProps {
  readonly values: readonly (number | null)[];
  readonly width?: number;
  readonly height?: number;
  /** Small numbers are drawn on top, as positions are. */
  readonly inverted?: boolean;
  /** A sentence for those who do not see it. */
  readonly label: string;
}

/** A small line without axes; where there is no value it breaks. */
export function Sparkline({ values, width = 120, height = 32, inverted = false, label }: SparklineProps) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return <svg class="sparkline" width={width} height={height} role="img" aria-label={label} />;
  const [least, most] = [inverted ? Math.min(...known) : 0, Math.max(...known)];
  const span = most - least || 1;
  const x = (index: number): number => 1 + (index / (values.length - 1)) * (width - 2);
  const y = (value: number): number => {
    const share = (value - least) / span;
    return 2 + (inverted ? share : 1 - share) * (height - 4);
  };
  let line = '';
  let isDrawing = false;
  for (const [index, value] of values.entries()) {
    if (value !== null) line += `${isDrawing ? 'L' : 'M'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
    isDrawing = value !== null;
  }
  const area = values.includes(null) || inverted ? '' : `${line}L${width - 1} ${height}L1 ${height}Z`;
  return (
    <svg
      class="sparkline"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
    >
      {area && <path class="area" d={area} />}
      <path class="line" d={line} />
    </svg>
  );
}
