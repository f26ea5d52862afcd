import { type ComponentType, h } from 'preact';
import { useState } from 'preact/hooks';

/** What the numbers count, in place. The texts are loaded when somebody asks. */
export function MetricHelp() {
  const [terms, setTerms] = useState<{ readonly shown: ComponentType<{ onClose: () => void }> } | undefined>();
  const show = async (): Promise<void> => {
    setTerms({ shown: (await import('./metric-terms.tsx')).MetricTerms });
  };
  return (
    <>
      <button type="button" class="link-button" onClick={() => void show()}>
        What are these numbers?
      </button>
      {terms && h(terms.shown, { onClose: () => setTerms(undefined) })}
    </>
  );
}
