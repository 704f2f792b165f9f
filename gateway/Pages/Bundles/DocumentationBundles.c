#include "DocumentationBundles.h"

// Resources that Swift embeds become array literals, which take minutes to compile at this size.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t swagger_ui_script[] = {
#embed "swagger-ui-bundle.js.gz"
};
static const uint8_t swagger_ui_style[] = {
#embed "swagger-ui.css.gz"
};
static const uint8_t redoc_script[] = {
#embed "redoc.standalone.js.gz"
};

DocumentationBundle documentation_swagger_ui_script(void) {
  return (DocumentationBundle){swagger_ui_script, sizeof swagger_ui_script};
}

DocumentationBundle documentation_swagger_ui_style(void) {
  return (DocumentationBundle){swagger_ui_style, sizeof swagger_ui_style};
}

DocumentationBundle documentation_redoc_script(void) {
  return (DocumentationBundle){redoc_script, sizeof redoc_script};
}
