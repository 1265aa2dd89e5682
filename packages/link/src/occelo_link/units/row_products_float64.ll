; Made by llvm_from_c.py from sources with the digest 601dd9c891a4964768b16a60bf12e6aa
; with ziglang 0.17.1

define void @dgemv_int64(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10) nounwind {
  %12 = load i8, ptr %0, align 1
  %13 = icmp eq i8 %12, 84
  %14 = zext i1 %13 to i32
  %15 = load i64, ptr %1, align 8
  %16 = load i64, ptr %2, align 8
  %17 = load i64, ptr %5, align 8
  tail call fastcc void @dproduct(i32 %14, i64 %15, i64 %16, ptr %4, i64 %17, ptr %6, ptr %9)
  ret void
}

define internal fastcc void @dproduct(i32 %0, i64 %1, i64 %2, ptr %3, i64 %4, ptr %5, ptr %6) nounwind {
  %8 = and i64 %4, 7
  %9 = icmp eq i64 %8, 0
  %10 = ptrtoint ptr %3 to i64
  %11 = lshr i64 %10, 3
  %12 = and i64 %11, 7
  %13 = select i1 %9, i64 %12, i64 0
  %14 = icmp eq i32 %0, 0
  %15 = add i64 %13, %1
  %16 = sub nsw i64 0, %13
  %17 = getelementptr inbounds double, ptr %3, i64 %16
  br i1 %14, label %217, label %18

18:
  %19 = getelementptr inbounds double, ptr %5, i64 %16
  %20 = icmp sgt i64 %2, 0
  br i1 %20, label %21, label %506

21:
  %22 = add nsw i64 %2, -1
  %23 = icmp sgt i64 %15, 0
  br label %24

24:
  %25 = phi i64 [ 0, %21 ], [ %215, %214 ]
  %26 = tail call i64 @llvm.smin.i64(i64 %25, i64 %22)
  %27 = mul i64 %26, %4
  %28 = getelementptr inbounds double, ptr %17, i64 %27
  %29 = or disjoint i64 %25, 1
  %30 = tail call i64 @llvm.smin.i64(i64 %29, i64 %22)
  %31 = mul i64 %30, %4
  %32 = getelementptr inbounds double, ptr %17, i64 %31
  %33 = or disjoint i64 %25, 2
  %34 = tail call i64 @llvm.smin.i64(i64 %33, i64 %22)
  %35 = mul i64 %34, %4
  %36 = getelementptr inbounds double, ptr %17, i64 %35
  %37 = or disjoint i64 %25, 3
  %38 = tail call i64 @llvm.smin.i64(i64 %37, i64 %22)
  %39 = mul i64 %38, %4
  %40 = getelementptr inbounds double, ptr %17, i64 %39
  %41 = or disjoint i64 %25, 4
  %42 = tail call i64 @llvm.smin.i64(i64 %41, i64 %22)
  %43 = mul i64 %42, %4
  %44 = getelementptr inbounds double, ptr %17, i64 %43
  %45 = or disjoint i64 %25, 5
  %46 = tail call i64 @llvm.smin.i64(i64 %45, i64 %22)
  %47 = mul i64 %46, %4
  %48 = getelementptr inbounds double, ptr %17, i64 %47
  %49 = or disjoint i64 %25, 6
  %50 = tail call i64 @llvm.smin.i64(i64 %49, i64 %22)
  %51 = mul i64 %50, %4
  %52 = getelementptr inbounds double, ptr %17, i64 %51
  %53 = or disjoint i64 %25, 7
  %54 = tail call i64 @llvm.smin.i64(i64 %53, i64 %22)
  %55 = mul i64 %54, %4
  %56 = getelementptr inbounds double, ptr %17, i64 %55
  br i1 %23, label %57, label %148

57:
  %58 = phi <8 x double> [ %139, %138 ], [ zeroinitializer, %24 ]
  %59 = phi <8 x double> [ %140, %138 ], [ zeroinitializer, %24 ]
  %60 = phi <8 x double> [ %141, %138 ], [ zeroinitializer, %24 ]
  %61 = phi <8 x double> [ %142, %138 ], [ zeroinitializer, %24 ]
  %62 = phi <8 x double> [ %143, %138 ], [ zeroinitializer, %24 ]
  %63 = phi <8 x double> [ %144, %138 ], [ zeroinitializer, %24 ]
  %64 = phi <8 x double> [ %145, %138 ], [ zeroinitializer, %24 ]
  %65 = phi <8 x double> [ %146, %138 ], [ zeroinitializer, %24 ]
  %66 = phi i64 [ %68, %138 ], [ 0, %24 ]
  %67 = icmp samesign ult i64 %66, %13
  %68 = add nuw nsw i64 %66, 8
  %69 = icmp sgt i64 %68, %15
  %70 = or i1 %67, %69
  br i1 %70, label %98, label %71

71:
  %72 = getelementptr inbounds nuw double, ptr %19, i64 %66
  %73 = load <8 x double>, ptr %72, align 8
  %74 = getelementptr inbounds nuw double, ptr %28, i64 %66
  %75 = load <8 x double>, ptr %74, align 8
  %76 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %75, <8 x double> %73, <8 x double> %65)
  %77 = getelementptr inbounds nuw double, ptr %32, i64 %66
  %78 = load <8 x double>, ptr %77, align 8
  %79 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %78, <8 x double> %73, <8 x double> %64)
  %80 = getelementptr inbounds nuw double, ptr %36, i64 %66
  %81 = load <8 x double>, ptr %80, align 8
  %82 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %81, <8 x double> %73, <8 x double> %63)
  %83 = getelementptr inbounds nuw double, ptr %40, i64 %66
  %84 = load <8 x double>, ptr %83, align 8
  %85 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %84, <8 x double> %73, <8 x double> %62)
  %86 = getelementptr inbounds nuw double, ptr %44, i64 %66
  %87 = load <8 x double>, ptr %86, align 8
  %88 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %87, <8 x double> %73, <8 x double> %61)
  %89 = getelementptr inbounds nuw double, ptr %48, i64 %66
  %90 = load <8 x double>, ptr %89, align 8
  %91 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %90, <8 x double> %73, <8 x double> %60)
  %92 = getelementptr inbounds nuw double, ptr %52, i64 %66
  %93 = load <8 x double>, ptr %92, align 8
  %94 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %93, <8 x double> %73, <8 x double> %59)
  %95 = getelementptr inbounds nuw double, ptr %56, i64 %66
  %96 = load <8 x double>, ptr %95, align 8
  %97 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %96, <8 x double> %73, <8 x double> %58)
  br label %138

98:
  %99 = sub nsw i64 %13, %66
  %100 = sub nsw i64 %15, %66
  %101 = tail call i64 @llvm.smin.i64(i64 %100, i64 8)
  %102 = trunc i64 %101 to i32
  %103 = insertelement <8 x i32> poison, i32 %102, i64 0
  %104 = shufflevector <8 x i32> %103, <8 x i32> poison, <8 x i32> zeroinitializer
  %105 = tail call i64 @llvm.smax.i64(i64 %99, i64 0)
  %106 = trunc i64 %105 to i32
  %107 = insertelement <8 x i32> poison, i32 %106, i64 0
  %108 = shufflevector <8 x i32> %107, <8 x i32> poison, <8 x i32> zeroinitializer
  %109 = icmp slt <8 x i32> %108, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  %110 = icmp sgt <8 x i32> %104, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %111 = and <8 x i1> %109, %110
  %112 = getelementptr inbounds nuw double, ptr %19, i64 %66
  %113 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %112, i32 8, <8 x i1> %111, <8 x double> zeroinitializer)
  %114 = getelementptr inbounds nuw double, ptr %28, i64 %66
  %115 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %114, i32 8, <8 x i1> %111, <8 x double> zeroinitializer)
  %116 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %115, <8 x double> %113, <8 x double> %65)
  %117 = getelementptr inbounds nuw double, ptr %32, i64 %66
  %118 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %117, i32 8, <8 x i1> %111, <8 x double> zeroinitializer)
  %119 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %118, <8 x double> %113, <8 x double> %64)
  %120 = getelementptr inbounds nuw double, ptr %36, i64 %66
  %121 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %120, i32 8, <8 x i1> %111, <8 x double> zeroinitializer)
  %122 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %121, <8 x double> %113, <8 x double> %63)
  %123 = getelementptr inbounds nuw double, ptr %40, i64 %66
  %124 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %123, i32 8, <8 x i1> %111, <8 x double> zeroinitializer)
  %125 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %124, <8 x double> %113, <8 x double> %62)
  %126 = getelementptr inbounds nuw double, ptr %44, i64 %66
  %127 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %126, i32 8, <8 x i1> %111, <8 x double> zeroinitializer)
  %128 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %127, <8 x double> %113, <8 x double> %61)
  %129 = getelementptr inbounds nuw double, ptr %48, i64 %66
  %130 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %129, i32 8, <8 x i1> %111, <8 x double> zeroinitializer)
  %131 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %130, <8 x double> %113, <8 x double> %60)
  %132 = getelementptr inbounds nuw double, ptr %52, i64 %66
  %133 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %132, i32 8, <8 x i1> %111, <8 x double> zeroinitializer)
  %134 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %133, <8 x double> %113, <8 x double> %59)
  %135 = getelementptr inbounds nuw double, ptr %56, i64 %66
  %136 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %135, i32 8, <8 x i1> %111, <8 x double> zeroinitializer)
  %137 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %136, <8 x double> %113, <8 x double> %58)
  br label %138

138:
  %139 = phi <8 x double> [ %137, %98 ], [ %97, %71 ]
  %140 = phi <8 x double> [ %134, %98 ], [ %94, %71 ]
  %141 = phi <8 x double> [ %131, %98 ], [ %91, %71 ]
  %142 = phi <8 x double> [ %128, %98 ], [ %88, %71 ]
  %143 = phi <8 x double> [ %125, %98 ], [ %85, %71 ]
  %144 = phi <8 x double> [ %122, %98 ], [ %82, %71 ]
  %145 = phi <8 x double> [ %119, %98 ], [ %79, %71 ]
  %146 = phi <8 x double> [ %116, %98 ], [ %76, %71 ]
  %147 = icmp slt i64 %68, %15
  br i1 %147, label %57, label %148

148:
  %149 = phi <8 x double> [ zeroinitializer, %24 ], [ %139, %138 ]
  %150 = phi <8 x double> [ zeroinitializer, %24 ], [ %140, %138 ]
  %151 = phi <8 x double> [ zeroinitializer, %24 ], [ %141, %138 ]
  %152 = phi <8 x double> [ zeroinitializer, %24 ], [ %142, %138 ]
  %153 = phi <8 x double> [ zeroinitializer, %24 ], [ %143, %138 ]
  %154 = phi <8 x double> [ zeroinitializer, %24 ], [ %144, %138 ]
  %155 = phi <8 x double> [ zeroinitializer, %24 ], [ %145, %138 ]
  %156 = phi <8 x double> [ zeroinitializer, %24 ], [ %146, %138 ]
  %157 = shufflevector <8 x double> %156, <8 x double> %154, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %158 = shufflevector <8 x double> %156, <8 x double> %154, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %159 = fadd <8 x double> %157, %158
  %160 = shufflevector <8 x double> %152, <8 x double> %150, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %161 = shufflevector <8 x double> %152, <8 x double> %150, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %162 = fadd <8 x double> %160, %161
  %163 = shufflevector <8 x double> %155, <8 x double> %153, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %164 = shufflevector <8 x double> %155, <8 x double> %153, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %165 = fadd <8 x double> %163, %164
  %166 = shufflevector <8 x double> %151, <8 x double> %149, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %167 = shufflevector <8 x double> %151, <8 x double> %149, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %168 = fadd <8 x double> %166, %167
  %169 = shufflevector <8 x double> %159, <8 x double> %162, <8 x i32> <i32 0, i32 1, i32 4, i32 5, i32 8, i32 9, i32 12, i32 13>
  %170 = shufflevector <8 x double> %159, <8 x double> %162, <8 x i32> <i32 2, i32 3, i32 6, i32 7, i32 10, i32 11, i32 14, i32 15>
  %171 = fadd <8 x double> %169, %170
  %172 = shufflevector <8 x double> %165, <8 x double> %168, <8 x i32> <i32 0, i32 1, i32 4, i32 5, i32 8, i32 9, i32 12, i32 13>
  %173 = shufflevector <8 x double> %165, <8 x double> %168, <8 x i32> <i32 2, i32 3, i32 6, i32 7, i32 10, i32 11, i32 14, i32 15>
  %174 = fadd <8 x double> %172, %173
  %175 = shufflevector <8 x double> %171, <8 x double> %174, <8 x i32> <i32 0, i32 8, i32 2, i32 10, i32 4, i32 12, i32 6, i32 14>
  %176 = shufflevector <8 x double> %171, <8 x double> %174, <8 x i32> <i32 1, i32 9, i32 3, i32 11, i32 5, i32 13, i32 7, i32 15>
  %177 = fadd <8 x double> %175, %176
  %178 = sub nsw i64 %2, %25
  %179 = icmp sgt i64 %178, 7
  br i1 %179, label %180, label %182

180:
  %181 = getelementptr inbounds nuw double, ptr %6, i64 %25
  store <8 x double> %177, ptr %181, align 8
  br label %214

182:
  %183 = extractelement <8 x double> %177, i64 0
  %184 = getelementptr inbounds nuw double, ptr %6, i64 %25
  store double %183, ptr %184, align 8
  %185 = icmp slt i64 %29, %2
  br i1 %185, label %186, label %189

186:
  %187 = extractelement <8 x double> %177, i64 1
  %188 = getelementptr inbounds nuw double, ptr %6, i64 %29
  store double %187, ptr %188, align 8
  br label %189

189:
  %190 = icmp slt i64 %33, %2
  br i1 %190, label %191, label %194

191:
  %192 = extractelement <8 x double> %177, i64 2
  %193 = getelementptr inbounds nuw double, ptr %6, i64 %33
  store double %192, ptr %193, align 8
  br label %194

194:
  %195 = icmp slt i64 %37, %2
  br i1 %195, label %196, label %199

196:
  %197 = extractelement <8 x double> %177, i64 3
  %198 = getelementptr inbounds nuw double, ptr %6, i64 %37
  store double %197, ptr %198, align 8
  br label %199

199:
  %200 = icmp slt i64 %41, %2
  br i1 %200, label %201, label %204

201:
  %202 = extractelement <8 x double> %177, i64 4
  %203 = getelementptr inbounds nuw double, ptr %6, i64 %41
  store double %202, ptr %203, align 8
  br label %204

204:
  %205 = icmp slt i64 %45, %2
  br i1 %205, label %206, label %209

206:
  %207 = extractelement <8 x double> %177, i64 5
  %208 = getelementptr inbounds nuw double, ptr %6, i64 %45
  store double %207, ptr %208, align 8
  br label %209

209:
  %210 = icmp slt i64 %49, %2
  br i1 %210, label %211, label %214

211:
  %212 = extractelement <8 x double> %177, i64 6
  %213 = getelementptr inbounds nuw double, ptr %6, i64 %49
  store double %212, ptr %213, align 8
  br label %214

214:
  %215 = add nuw nsw i64 %25, 8
  %216 = icmp slt i64 %215, %2
  br i1 %216, label %24, label %506

217:
  %218 = getelementptr inbounds double, ptr %6, i64 %16
  %219 = icmp sgt i64 %15, 16
  br i1 %219, label %220, label %371

220:
  %221 = and i64 %2, 1
  %222 = icmp eq i64 %221, 0
  %223 = icmp sgt i64 %2, 1
  br label %224

224:
  %225 = phi i64 [ %15, %220 ], [ %324, %306 ]
  %226 = phi i64 [ 0, %220 ], [ %323, %306 ]
  %227 = phi i64 [ 0, %220 ], [ %322, %306 ]
  %228 = getelementptr inbounds double, ptr %17, i64 %227
  %229 = add nsw i64 %226, %13
  %230 = tail call i64 @llvm.smax.i64(i64 %229, i64 0)
  %231 = trunc i64 %230 to i32
  %232 = insertelement <8 x i32> poison, i32 %231, i64 0
  %233 = shufflevector <8 x i32> %232, <8 x i32> poison, <8 x i32> zeroinitializer
  %234 = icmp slt <8 x i32> %233, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  br i1 %222, label %235, label %242

235:
  %236 = add i64 %229, -8
  %237 = tail call i64 @llvm.smax.i64(i64 %236, i64 0)
  %238 = trunc i64 %237 to i32
  %239 = insertelement <8 x i32> poison, i32 %238, i64 0
  %240 = shufflevector <8 x i32> %239, <8 x i32> poison, <8 x i32> zeroinitializer
  %241 = icmp slt <8 x i32> %240, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  br label %257

242:
  %243 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %228, i32 8, <8 x i1> %234, <8 x double> zeroinitializer)
  %244 = load double, ptr %5, align 8
  %245 = insertelement <8 x double> poison, double %244, i64 0
  %246 = shufflevector <8 x double> %245, <8 x double> poison, <8 x i32> zeroinitializer
  %247 = fmul <8 x double> %243, %246
  %248 = add i64 %229, -8
  %249 = tail call i64 @llvm.smax.i64(i64 %248, i64 0)
  %250 = trunc i64 %249 to i32
  %251 = insertelement <8 x i32> poison, i32 %250, i64 0
  %252 = shufflevector <8 x i32> %251, <8 x i32> poison, <8 x i32> zeroinitializer
  %253 = icmp slt <8 x i32> %252, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  %254 = getelementptr inbounds nuw i8, ptr %228, i64 64
  %255 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %254, i32 8, <8 x i1> %253, <8 x double> zeroinitializer)
  %256 = fmul <8 x double> %255, %246
  br label %257

257:
  %258 = phi <8 x i1> [ %241, %235 ], [ %253, %242 ]
  %259 = phi <8 x double> [ zeroinitializer, %235 ], [ %247, %242 ]
  %260 = phi <8 x double> [ zeroinitializer, %235 ], [ %256, %242 ]
  %261 = add i64 %229, -16
  %262 = tail call i64 @llvm.umin.i64(i64 %225, i64 24)
  %263 = trunc nuw nsw i64 %262 to i32
  %264 = add nsw i32 %263, -16
  %265 = insertelement <8 x i32> poison, i32 %264, i64 0
  %266 = shufflevector <8 x i32> %265, <8 x i32> poison, <8 x i32> zeroinitializer
  %267 = tail call i64 @llvm.smax.i64(i64 %261, i64 0)
  %268 = trunc i64 %267 to i32
  %269 = insertelement <8 x i32> poison, i32 %268, i64 0
  %270 = shufflevector <8 x i32> %269, <8 x i32> poison, <8 x i32> zeroinitializer
  %271 = icmp slt <8 x i32> %270, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  %272 = icmp sgt <8 x i32> %266, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %273 = and <8 x i1> %272, %271
  br i1 %222, label %281, label %274

274:
  %275 = getelementptr inbounds nuw i8, ptr %228, i64 128
  %276 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %275, i32 8, <8 x i1> %273, <8 x double> zeroinitializer)
  %277 = load double, ptr %5, align 8
  %278 = insertelement <8 x double> poison, double %277, i64 0
  %279 = shufflevector <8 x double> %278, <8 x double> poison, <8 x i32> zeroinitializer
  %280 = fmul <8 x double> %276, %279
  br label %281

281:
  %282 = phi <8 x double> [ zeroinitializer, %257 ], [ %280, %274 ]
  %283 = add i64 %229, -24
  %284 = tail call i64 @llvm.umin.i64(i64 %225, i64 32)
  %285 = trunc nuw nsw i64 %284 to i32
  %286 = add nsw i32 %285, -24
  %287 = insertelement <8 x i32> poison, i32 %286, i64 0
  %288 = shufflevector <8 x i32> %287, <8 x i32> poison, <8 x i32> zeroinitializer
  %289 = tail call i64 @llvm.smax.i64(i64 %283, i64 0)
  %290 = trunc i64 %289 to i32
  %291 = insertelement <8 x i32> poison, i32 %290, i64 0
  %292 = shufflevector <8 x i32> %291, <8 x i32> poison, <8 x i32> zeroinitializer
  %293 = icmp slt <8 x i32> %292, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  %294 = icmp sgt <8 x i32> %288, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %295 = and <8 x i1> %294, %293
  br i1 %222, label %303, label %296

296:
  %297 = getelementptr inbounds nuw i8, ptr %228, i64 192
  %298 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %297, i32 8, <8 x i1> %295, <8 x double> zeroinitializer)
  %299 = load double, ptr %5, align 8
  %300 = insertelement <8 x double> poison, double %299, i64 0
  %301 = shufflevector <8 x double> %300, <8 x double> poison, <8 x i32> zeroinitializer
  %302 = fmul <8 x double> %298, %301
  br label %303

303:
  %304 = phi <8 x double> [ zeroinitializer, %281 ], [ %302, %296 ]
  %305 = getelementptr inbounds double, ptr %218, i64 %227
  br i1 %223, label %326, label %306

306:
  %307 = phi <8 x double> [ %304, %303 ], [ %368, %326 ]
  %308 = phi <8 x double> [ %282, %303 ], [ %362, %326 ]
  %309 = phi <8 x double> [ %260, %303 ], [ %356, %326 ]
  %310 = phi <8 x double> [ %259, %303 ], [ %350, %326 ]
  %311 = phi <8 x double> [ zeroinitializer, %303 ], [ %365, %326 ]
  %312 = phi <8 x double> [ zeroinitializer, %303 ], [ %359, %326 ]
  %313 = phi <8 x double> [ zeroinitializer, %303 ], [ %353, %326 ]
  %314 = phi <8 x double> [ zeroinitializer, %303 ], [ %348, %326 ]
  %315 = fadd <8 x double> %310, %314
  tail call void @llvm.masked.store.v8f64.p0(<8 x double> %315, ptr %305, i32 8, <8 x i1> %234)
  %316 = fadd <8 x double> %309, %313
  %317 = getelementptr inbounds nuw i8, ptr %305, i64 64
  tail call void @llvm.masked.store.v8f64.p0(<8 x double> %316, ptr %317, i32 8, <8 x i1> %258)
  %318 = fadd <8 x double> %308, %312
  %319 = getelementptr inbounds nuw i8, ptr %305, i64 128
  tail call void @llvm.masked.store.v8f64.p0(<8 x double> %318, ptr %319, i32 8, <8 x i1> %273)
  %320 = fadd <8 x double> %307, %311
  %321 = getelementptr inbounds nuw i8, ptr %305, i64 192
  tail call void @llvm.masked.store.v8f64.p0(<8 x double> %320, ptr %321, i32 8, <8 x i1> %295)
  %322 = add nuw i64 %227, 32
  %323 = sub nuw nsw i64 -32, %227
  %324 = sub i64 %15, %322
  %325 = icmp sgt i64 %324, 16
  br i1 %325, label %224, label %371

326:
  %327 = phi <8 x double> [ %368, %326 ], [ %304, %303 ]
  %328 = phi <8 x double> [ %362, %326 ], [ %282, %303 ]
  %329 = phi <8 x double> [ %356, %326 ], [ %260, %303 ]
  %330 = phi <8 x double> [ %350, %326 ], [ %259, %303 ]
  %331 = phi <8 x double> [ %365, %326 ], [ zeroinitializer, %303 ]
  %332 = phi <8 x double> [ %359, %326 ], [ zeroinitializer, %303 ]
  %333 = phi <8 x double> [ %353, %326 ], [ zeroinitializer, %303 ]
  %334 = phi <8 x double> [ %348, %326 ], [ zeroinitializer, %303 ]
  %335 = phi i64 [ %369, %326 ], [ %221, %303 ]
  %336 = mul i64 %335, %4
  %337 = getelementptr inbounds double, ptr %228, i64 %336
  %338 = getelementptr inbounds double, ptr %337, i64 %4
  %339 = getelementptr inbounds nuw double, ptr %5, i64 %335
  %340 = load double, ptr %339, align 8
  %341 = insertelement <8 x double> poison, double %340, i64 0
  %342 = shufflevector <8 x double> %341, <8 x double> poison, <8 x i32> zeroinitializer
  %343 = getelementptr i8, ptr %339, i64 8
  %344 = load double, ptr %343, align 8
  %345 = insertelement <8 x double> poison, double %344, i64 0
  %346 = shufflevector <8 x double> %345, <8 x double> poison, <8 x i32> zeroinitializer
  %347 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %337, i32 8, <8 x i1> %234, <8 x double> zeroinitializer)
  %348 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %347, <8 x double> %342, <8 x double> %334)
  %349 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %338, i32 8, <8 x i1> %234, <8 x double> zeroinitializer)
  %350 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %349, <8 x double> %346, <8 x double> %330)
  %351 = getelementptr inbounds nuw i8, ptr %337, i64 64
  %352 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %351, i32 8, <8 x i1> %258, <8 x double> zeroinitializer)
  %353 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %352, <8 x double> %342, <8 x double> %333)
  %354 = getelementptr inbounds nuw i8, ptr %338, i64 64
  %355 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %354, i32 8, <8 x i1> %258, <8 x double> zeroinitializer)
  %356 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %355, <8 x double> %346, <8 x double> %329)
  %357 = getelementptr inbounds nuw i8, ptr %337, i64 128
  %358 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %357, i32 8, <8 x i1> %273, <8 x double> zeroinitializer)
  %359 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %358, <8 x double> %342, <8 x double> %332)
  %360 = getelementptr inbounds nuw i8, ptr %338, i64 128
  %361 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %360, i32 8, <8 x i1> %273, <8 x double> zeroinitializer)
  %362 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %361, <8 x double> %346, <8 x double> %328)
  %363 = getelementptr inbounds nuw i8, ptr %337, i64 192
  %364 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %363, i32 8, <8 x i1> %295, <8 x double> zeroinitializer)
  %365 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %364, <8 x double> %342, <8 x double> %331)
  %366 = getelementptr inbounds nuw i8, ptr %338, i64 192
  %367 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %366, i32 8, <8 x i1> %295, <8 x double> zeroinitializer)
  %368 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %367, <8 x double> %346, <8 x double> %327)
  %369 = add nuw nsw i64 %335, 2
  %370 = icmp slt i64 %369, %2
  br i1 %370, label %326, label %306

371:
  %372 = phi i64 [ 0, %217 ], [ %322, %306 ]
  %373 = phi i64 [ 0, %217 ], [ %323, %306 ]
  %374 = phi i64 [ %15, %217 ], [ %324, %306 ]
  %375 = icmp sgt i64 %374, 8
  br i1 %375, label %376, label %454

376:
  %377 = getelementptr inbounds double, ptr %17, i64 %372
  %378 = and i64 %2, 1
  %379 = add i64 %373, %13
  %380 = icmp eq i64 %378, 0
  %381 = tail call i64 @llvm.smax.i64(i64 %379, i64 0)
  %382 = trunc i64 %381 to i32
  %383 = insertelement <8 x i32> poison, i32 %382, i64 0
  %384 = shufflevector <8 x i32> %383, <8 x i32> poison, <8 x i32> zeroinitializer
  %385 = icmp slt <8 x i32> %384, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  br i1 %380, label %392, label %386

386:
  %387 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %377, i32 8, <8 x i1> %385, <8 x double> zeroinitializer)
  %388 = load double, ptr %5, align 8
  %389 = insertelement <8 x double> poison, double %388, i64 0
  %390 = shufflevector <8 x double> %389, <8 x double> poison, <8 x i32> zeroinitializer
  %391 = fmul <8 x double> %387, %390
  br label %392

392:
  %393 = phi <8 x double> [ zeroinitializer, %376 ], [ %391, %386 ]
  %394 = add i64 %379, -8
  %395 = trunc nuw nsw i64 %374 to i32
  %396 = add nsw i32 %395, -8
  %397 = insertelement <8 x i32> poison, i32 %396, i64 0
  %398 = shufflevector <8 x i32> %397, <8 x i32> poison, <8 x i32> zeroinitializer
  %399 = tail call i64 @llvm.smax.i64(i64 %394, i64 0)
  %400 = trunc i64 %399 to i32
  %401 = insertelement <8 x i32> poison, i32 %400, i64 0
  %402 = shufflevector <8 x i32> %401, <8 x i32> poison, <8 x i32> zeroinitializer
  %403 = icmp slt <8 x i32> %402, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  %404 = icmp sgt <8 x i32> %398, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %405 = and <8 x i1> %404, %403
  br i1 %380, label %413, label %406

406:
  %407 = getelementptr inbounds nuw i8, ptr %377, i64 64
  %408 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %407, i32 8, <8 x i1> %405, <8 x double> zeroinitializer)
  %409 = load double, ptr %5, align 8
  %410 = insertelement <8 x double> poison, double %409, i64 0
  %411 = shufflevector <8 x double> %410, <8 x double> poison, <8 x i32> zeroinitializer
  %412 = fmul <8 x double> %408, %411
  br label %413

413:
  %414 = phi <8 x double> [ zeroinitializer, %392 ], [ %412, %406 ]
  %415 = getelementptr inbounds double, ptr %218, i64 %372
  %416 = icmp sgt i64 %2, 1
  br i1 %416, label %425, label %417

417:
  %418 = phi <8 x double> [ zeroinitializer, %413 ], [ %443, %425 ]
  %419 = phi <8 x double> [ zeroinitializer, %413 ], [ %448, %425 ]
  %420 = phi <8 x double> [ %393, %413 ], [ %445, %425 ]
  %421 = phi <8 x double> [ %414, %413 ], [ %451, %425 ]
  %422 = fadd <8 x double> %418, %420
  tail call void @llvm.masked.store.v8f64.p0(<8 x double> %422, ptr %415, i32 8, <8 x i1> %385)
  %423 = fadd <8 x double> %419, %421
  %424 = getelementptr inbounds nuw i8, ptr %415, i64 64
  tail call void @llvm.masked.store.v8f64.p0(<8 x double> %423, ptr %424, i32 8, <8 x i1> %405)
  br label %506

425:
  %426 = phi <8 x double> [ %443, %425 ], [ zeroinitializer, %413 ]
  %427 = phi <8 x double> [ %448, %425 ], [ zeroinitializer, %413 ]
  %428 = phi <8 x double> [ %445, %425 ], [ %393, %413 ]
  %429 = phi <8 x double> [ %451, %425 ], [ %414, %413 ]
  %430 = phi i64 [ %452, %425 ], [ %378, %413 ]
  %431 = mul i64 %430, %4
  %432 = getelementptr inbounds double, ptr %377, i64 %431
  %433 = getelementptr inbounds double, ptr %432, i64 %4
  %434 = getelementptr inbounds nuw double, ptr %5, i64 %430
  %435 = load double, ptr %434, align 8
  %436 = insertelement <8 x double> poison, double %435, i64 0
  %437 = shufflevector <8 x double> %436, <8 x double> poison, <8 x i32> zeroinitializer
  %438 = getelementptr i8, ptr %434, i64 8
  %439 = load double, ptr %438, align 8
  %440 = insertelement <8 x double> poison, double %439, i64 0
  %441 = shufflevector <8 x double> %440, <8 x double> poison, <8 x i32> zeroinitializer
  %442 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %432, i32 8, <8 x i1> %385, <8 x double> zeroinitializer)
  %443 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %442, <8 x double> %437, <8 x double> %426)
  %444 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %433, i32 8, <8 x i1> %385, <8 x double> zeroinitializer)
  %445 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %444, <8 x double> %441, <8 x double> %428)
  %446 = getelementptr inbounds nuw i8, ptr %432, i64 64
  %447 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %446, i32 8, <8 x i1> %405, <8 x double> zeroinitializer)
  %448 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %447, <8 x double> %437, <8 x double> %427)
  %449 = getelementptr inbounds nuw i8, ptr %433, i64 64
  %450 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %449, i32 8, <8 x i1> %405, <8 x double> zeroinitializer)
  %451 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %450, <8 x double> %441, <8 x double> %429)
  %452 = add nuw nsw i64 %430, 2
  %453 = icmp slt i64 %452, %2
  br i1 %453, label %425, label %417

454:
  %455 = icmp slt i64 %372, %15
  br i1 %455, label %456, label %506

456:
  %457 = sub i64 %13, %372
  %458 = getelementptr inbounds double, ptr %17, i64 %372
  %459 = getelementptr inbounds double, ptr %218, i64 %372
  %460 = and i64 %2, 1
  %461 = trunc i64 %374 to i32
  %462 = insertelement <8 x i32> poison, i32 %461, i64 0
  %463 = shufflevector <8 x i32> %462, <8 x i32> poison, <8 x i32> zeroinitializer
  %464 = tail call i64 @llvm.smax.i64(i64 %457, i64 0)
  %465 = trunc i64 %464 to i32
  %466 = insertelement <8 x i32> poison, i32 %465, i64 0
  %467 = shufflevector <8 x i32> %466, <8 x i32> poison, <8 x i32> zeroinitializer
  %468 = icmp eq i64 %460, 0
  %469 = icmp slt <8 x i32> %467, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  %470 = icmp sgt <8 x i32> %463, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %471 = and <8 x i1> %469, %470
  br i1 %468, label %478, label %472

472:
  %473 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %458, i32 8, <8 x i1> %471, <8 x double> zeroinitializer)
  %474 = load double, ptr %5, align 8
  %475 = insertelement <8 x double> poison, double %474, i64 0
  %476 = shufflevector <8 x double> %475, <8 x double> poison, <8 x i32> zeroinitializer
  %477 = fmul <8 x double> %473, %476
  br label %478

478:
  %479 = phi <8 x double> [ zeroinitializer, %456 ], [ %477, %472 ]
  %480 = icmp sgt i64 %2, 1
  br i1 %480, label %485, label %481

481:
  %482 = phi <8 x double> [ %479, %478 ], [ %503, %485 ]
  %483 = phi <8 x double> [ zeroinitializer, %478 ], [ %502, %485 ]
  %484 = fadd <8 x double> %482, %483
  tail call void @llvm.masked.store.v8f64.p0(<8 x double> %484, ptr %459, i32 8, <8 x i1> %471)
  br label %506

485:
  %486 = phi i64 [ %504, %485 ], [ %460, %478 ]
  %487 = phi <8 x double> [ %502, %485 ], [ zeroinitializer, %478 ]
  %488 = phi <8 x double> [ %503, %485 ], [ %479, %478 ]
  %489 = mul i64 %486, %4
  %490 = getelementptr inbounds double, ptr %458, i64 %489
  %491 = getelementptr inbounds double, ptr %490, i64 %4
  %492 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %490, i32 8, <8 x i1> %471, <8 x double> zeroinitializer)
  %493 = getelementptr inbounds nuw double, ptr %5, i64 %486
  %494 = load double, ptr %493, align 8
  %495 = insertelement <8 x double> poison, double %494, i64 0
  %496 = shufflevector <8 x double> %495, <8 x double> poison, <8 x i32> zeroinitializer
  %497 = tail call <8 x double> @llvm.masked.load.v8f64.p0(ptr %491, i32 8, <8 x i1> %471, <8 x double> zeroinitializer)
  %498 = getelementptr i8, ptr %493, i64 8
  %499 = load double, ptr %498, align 8
  %500 = insertelement <8 x double> poison, double %499, i64 0
  %501 = shufflevector <8 x double> %500, <8 x double> poison, <8 x i32> zeroinitializer
  %502 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %492, <8 x double> %496, <8 x double> %487)
  %503 = tail call <8 x double> @llvm.fmuladd.v8f64(<8 x double> %497, <8 x double> %501, <8 x double> %488)
  %504 = add nuw nsw i64 %486, 2
  %505 = icmp slt i64 %504, %2
  br i1 %505, label %485, label %481

506:
  ret void
}

define void @dgemv_int32(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10) nounwind {
  %12 = load i8, ptr %0, align 1
  %13 = icmp eq i8 %12, 84
  %14 = zext i1 %13 to i32
  %15 = load i32, ptr %1, align 4
  %16 = sext i32 %15 to i64
  %17 = load i32, ptr %2, align 4
  %18 = sext i32 %17 to i64
  %19 = load i32, ptr %5, align 4
  %20 = sext i32 %19 to i64
  tail call fastcc void @dproduct(i32 %14, i64 %16, i64 %18, ptr %4, i64 %20, ptr %6, ptr %9)
  ret void
}

declare <8 x double> @llvm.fmuladd.v8f64(<8 x double>, <8 x double>, <8 x double>)

declare <8 x double> @llvm.masked.load.v8f64.p0(ptr, i32 immarg, <8 x i1>, <8 x double>)

declare void @llvm.masked.store.v8f64.p0(<8 x double>, ptr, i32 immarg, <8 x i1>)

declare i64 @llvm.smax.i64(i64, i64)

declare i64 @llvm.smin.i64(i64, i64)

declare i64 @llvm.umin.i64(i64, i64)

