#include <stddef.h>
#include <stdint.h>

/// A file that is part of the program, compressed with gzip.
typedef struct {
  const uint8_t *bytes;
  size_t size;
} DocumentationBundle;

DocumentationBundle documentation_swagger_ui_script(void);
DocumentationBundle documentation_swagger_ui_style(void);
DocumentationBundle documentation_redoc_script(void);
