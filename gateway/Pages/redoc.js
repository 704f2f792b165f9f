Redoc.init("/openapi.json", { hideHostname: false, requiredPropsFirst: true }, document.getElementById("page"));
